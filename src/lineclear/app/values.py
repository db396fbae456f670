"""Use cases for values: versions, fences, history, and isolated copies that are merged back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.agents.membership import ensure_agent
from lineclear.app.claims import near_claims
from lineclear.app.operations import once
from lineclear.app.write_facts import refuse_write
from lineclear.core.agents.names import is_family, label_name
from lineclear.core.claims.resources import parse_resource
from lineclear.core.claims.write_rule import VALUE_WRITE, Write
from lineclear.core.instants import show_wall
from lineclear.core.json_text import canonical, parse_json
from lineclear.core.log.codec import decode_body
from lineclear.core.log.events import Draft
from lineclear.core.log.queries import by_key
from lineclear.core.log.tables import COPY, LOG, VALUE
from lineclear.core.values.json_merge import ABSENT, merge_json
from lineclear.core.words.computed.values import copy_conflicts
from lineclear.core.words.refusals import Refusal, not_found, quote, refuse
from lineclear.core.words.row import STALE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from lineclear.app.ports import Caller, Liveness, Store, Tx, View
    from lineclear.core.claims.resources import Resource
    from lineclear.core.claims.strategies import Rule
    from lineclear.core.log.queries import Question
    from lineclear.core.log.tables import Copy, Value

MOST_KEY = 200


def value_resource(key: str) -> Resource:
    if len(key) > MOST_KEY:
        raise refuse("input.bad", name="key", given=key, why=f"it is longer than {MOST_KEY} characters")
    resource = parse_resource(f"value:{key}", literal=True)
    if resource.kind != "name":
        raise refuse("input.bad", name="key", given=key, why="it must name one value, not a pattern")
    return resource


def get(view: View, key: str, *, copy: str = "") -> dict[str, Any]:
    key = value_resource(key).path
    if copy:
        return _show_copy(_known_copy(view, copy, key))
    value = view.get(VALUE, (key,))
    if value is None or value.deleted:
        raise not_found("value", key, "lineclear value list")
    return show_value(value)


def put(
    store: Store, liveness: Liveness, caller: Caller, rules: list[Rule], key: str, text: str, *,
    version: int | None = None, fence: int = 0, copy: str = "",
) -> dict[str, Any]:  # fmt: skip
    """Write a new version. `version`: the one that the caller has read; 0 means "only if new".

    Without a version the write is refused as stale if somebody else wrote the current value.
    """
    resource, json = value_resource(key), canonical(parse_json(text))
    key = resource.path

    def work(tx: Tx) -> dict[str, Any]:
        ensure_agent(tx, caller)
        if copy:
            return _change_copy(tx, caller, _known_copy(tx, copy, key), json, deleted=0)
        base = _writable_base(tx, liveness, caller, rules, resource, version, fence)
        tx.append(Draft("ValuePut", resource.text, key=key, version=base + 1, base=base, json=json))
        return show_value(_known(tx, key))

    arguments = {"key": key, "json": json, "version": version, "fence": fence, "copy": copy}
    return once(store, caller, "value put", arguments, work, near=_near_write(resource, key))


def delete(
    store: Store, liveness: Liveness, caller: Caller, rules: list[Rule], key: str, *,
    version: int | None = None, fence: int = 0, copy: str = "",
) -> dict[str, Any]:  # fmt: skip
    resource = value_resource(key)
    key = resource.path

    def work(tx: Tx) -> dict[str, Any]:
        ensure_agent(tx, caller)
        if copy:
            return _change_copy(tx, caller, _known_copy(tx, copy, key), "", deleted=1)
        current = tx.get(VALUE, (key,))
        if current is None or current.deleted:
            raise not_found("value", key, "lineclear value list")
        base = _writable_base(tx, liveness, caller, rules, resource, version, fence)
        tx.append(Draft("ValueDeleted", resource.text, key=key, version=base + 1, base=base))
        return {"key": key, "version": base + 1, "deleted": True}

    arguments = {"key": key, "version": version, "fence": fence, "copy": copy}
    return once(store, caller, "value delete", arguments, work, near=_near_write(resource, key))


def update(
    store: Store,
    liveness: Liveness,
    caller: Caller,
    rules: list[Rule],
    key: str,
    change: Callable[[Any], Any],
    *,
    tries: int = 20,
) -> dict[str, Any]:
    """Read, change and write a value; start again from the newest version if somebody else was faster.

    `change` gets the value (None if there is none) and returns the new one; it may be called several times.
    """
    for _ in range(tries - 1):
        try:
            return _update_once(store, liveness, caller, rules, key, change)
        except Refusal as refusal:
            if refusal.exit_code != STALE:
                raise
    return _update_once(store, liveness, caller, rules, key, change)


def history(view: View, key: str, limit: int = 20) -> list[dict[str, Any]]:
    """The newest versions of a value, newest first."""
    shown = []
    for entry in view.scan(LOG, "subject", (value_resource(key).text,), reverse=True):
        # Claims and proposals on the value have the same subject.
        if entry.kind in ("ValuePut", "ValueDeleted"):
            body = decode_body(entry.body)
            shown.append(
                {"version": body["version"], "at": show_wall(entry.at_ns), "by": entry.actor,
                 "position": entry.position, "value": parse_json(body["json"]) if "json" in body else None,
                 "deleted": entry.kind == "ValueDeleted"}
            )  # fmt: skip
            if len(shown) == limit:
                break
    return shown


def list_values(view: View) -> list[dict[str, Any]]:
    return [show_value(value) for value in view.scan(VALUE, "key") if not value.deleted]


# -- isolated copies --------------------------------------------------------------------------


def fork(store: Store, caller: Caller, copy: str, keys: list[str]) -> dict[str, Any]:
    """Make an isolated copy of some values, to change and merge back later."""
    label_name(copy)
    if not keys:
        raise refuse("input.bad", name="copy", given=copy, why="name at least one value to copy")
    keys = list(dict.fromkeys(value_resource(key).path for key in keys))

    def work(tx: Tx) -> dict[str, Any]:
        ensure_agent(tx, caller)
        if tx.pick(COPY, "key", (copy,)):
            raise refuse("copy.exists", copy=copy)
        for key in keys:
            value = tx.get(VALUE, (key,))
            version = value.version if value is not None else 0
            json = value.json if value is not None and not value.deleted else ""
            tx.append(
                Draft("CopyMade", f"copy:{copy}", copy=copy, key=key, base_version=version, base_json=json)
            )
        return {"copy": copy, "values": [_show_copy(row) for row in tx.pick(COPY, "key", (copy,))]}

    return once(store, caller, "value fork", {"copy": copy, "keys": keys}, work)


def merge(store: Store, liveness: Liveness, caller: Caller, rules: list[Rule], copy: str) -> dict[str, Any]:
    """Merge a copy's changes back, all or none. Refuses with the value and JSON pointer of each conflict."""

    def work(tx: Tx) -> dict[str, Any]:
        ensure_agent(tx, caller)
        rows = tx.pick(COPY, "key", (copy,))
        if not rows:
            raise not_found("copy", copy, "lineclear value list")
        _refuse_foreign(caller, rows)
        plans = [_plan_merge(tx, row) for row in rows]
        conflicts = [conflict for _, _, found in plans for conflict in found]
        if conflicts:
            raise copy_conflicts(copy, conflicts)
        merged = [_write_merged(tx, liveness, caller, rules, row, json) for row, json, _ in plans]
        tx.append(Draft("CopyEnded", f"copy:{copy}", copy=copy, why="merged"))
        return {"copy": copy, "merged": [shown for shown in merged if shown is not None]}

    return once(store, caller, "value merge", {"copy": copy}, work)


def drop_copy(store: Store, caller: Caller, copy: str) -> dict[str, Any]:
    def work(tx: Tx) -> dict[str, Any]:
        ensure_agent(tx, caller)
        rows = tx.pick(COPY, "key", (copy,))
        if not rows:
            raise not_found("copy", copy, "lineclear value list")
        _refuse_foreign(caller, rows)
        tx.append(Draft("CopyEnded", f"copy:{copy}", copy=copy, why="dropped"))
        return {"copy": copy}

    return once(store, caller, "value drop", {"copy": copy}, work)


def list_copies(view: View) -> list[dict[str, Any]]:
    return [_show_copy(row) for row in view.scan(COPY, "key")]


# -- inside one transaction -------------------------------------------------------------------


def show_value(value: Value) -> dict[str, Any]:
    return {
        "key": value.key,
        "version": value.version,
        "value": parse_json(value.json),
        "by": value.agent,
        "position": value.position,
    }


def _show_copy(row: Copy) -> dict[str, Any]:
    value = None if row.deleted else parse_json(row.json)
    return {
        "copy": row.copy,
        "key": row.key,
        "base_version": row.base_version,
        "value": value,
        "changed": row.json != row.base_json,
    }


def _known(view: View, key: str) -> Value:
    value = view.get(VALUE, (key,))
    if value is None:
        raise not_found("value", key, "lineclear value list")
    return value


def _known_copy(view: View, copy: str, key: str) -> Copy:
    label_name(copy)
    row = view.get(COPY, (copy, key))
    if row is None:
        raise not_found("copy", f"{copy} of {key}", f"lineclear value fork {copy} {quote(key)}")
    return row


def _refuse_foreign(caller: Caller, rows: list[Copy]) -> None:
    """Refuse if the caller is neither the copy's owner nor a person."""
    for row in rows:
        if not caller.is_person and not is_family(row.agent, caller.name):
            raise refuse("copy.not_yours", copy=row.copy, holder=row.agent)


def _change_copy(tx: Tx, caller: Caller, row: Copy, json: str, *, deleted: int) -> dict[str, Any]:
    _refuse_foreign(caller, [row])
    tx.append(
        Draft("CopyChanged", f"copy:{row.copy}", copy=row.copy, key=row.key, json=json, deleted=deleted)
    )
    return _show_copy(_known_copy(tx, row.copy, row.key))


def _near_write(resource: Resource, key: str) -> Iterator[Question]:
    """The questions of `_writable_base`, to prefetch."""
    yield by_key(VALUE, key)
    yield from near_claims([resource])


def _writable_base(
    tx: Tx, liveness: Liveness, caller: Caller, rules: list[Rule], resource: Resource, version: int | None,
    fence: int = 0,
) -> int:  # fmt: skip
    """The base version for a write. Refuses if the value's strategy forbids the write, or if it is stale."""
    write = Write(resource, caller.name, VALUE_WRITE, is_person=caller.is_person, fence=fence)
    refuse_write(tx, liveness, rules, write)
    return _base_version(tx.get(VALUE, (resource.path,)), caller, resource.path, version)


def _base_version(current: Value | None, caller: Caller, key: str, version: int | None) -> int:
    newest, writer = (current.version, current.agent) if current is not None else (0, "")
    is_there = current is not None and not current.deleted
    if version == 0:
        if is_there:
            raise refuse("value.exists", key=key, version=newest, holder=writer)
    elif version is None:
        if is_there and writer != caller.name:
            raise refuse("value.stale", key=key, given=None, version=newest, holder=writer)
    elif version != newest:
        raise refuse("value.stale", key=key, given=version, version=newest, holder=writer)
    return newest


def _update_once(
    store: Store,
    liveness: Liveness,
    caller: Caller,
    rules: list[Rule],
    key: str,
    change: Callable[[Any], Any],
) -> dict[str, Any]:
    value = store.read(lambda view: view.get(VALUE, (key,)))
    is_there = value is not None and not value.deleted
    before = parse_json(value.json) if value is not None and is_there else None
    version = value.version if value is not None and is_there else 0
    return put(store, liveness, caller, rules, key, canonical(change(before)), version=version)


def _plan_merge(tx: Tx, row: Copy) -> tuple[Copy, str, list[dict[str, Any]]]:
    """Merge a copy with the current value: (copy row, merged JSON or "" if deleted, conflicts)."""
    value = tx.get(VALUE, (row.key,))
    base = parse_json(row.base_json) if row.base_json else ABSENT
    mine = parse_json(row.json) if not row.deleted else ABSENT
    theirs = parse_json(value.json) if value is not None and not value.deleted else ABSENT
    merged = merge_json(base, mine, theirs)
    found = [{"key": row.key, "pointer": conflict.pointer} for conflict in merged.conflicts]
    return row, "" if merged.value is ABSENT else canonical(merged.value), found


def _write_merged(
    tx: Tx, liveness: Liveness, caller: Caller, rules: list[Rule], row: Copy, json: str
) -> dict[str, Any] | None:
    """Write the merged value; None if it has not changed."""
    value = tx.get(VALUE, (row.key,))
    now_there = value.json if value is not None and not value.deleted else ""
    if json == now_there:
        return None
    resource = value_resource(row.key)
    version = value.version if value is not None else 0
    base = _writable_base(tx, liveness, caller, rules, resource, version if now_there else 0)
    if json:
        tx.append(Draft("ValuePut", resource.text, key=row.key, version=base + 1, base=base, json=json))
        return show_value(_known(tx, row.key))
    tx.append(Draft("ValueDeleted", resource.text, key=row.key, version=base + 1, base=base))
    return {"key": row.key, "version": base + 1, "deleted": True}
