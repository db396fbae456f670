"""Git's hooks as a gate: stubs of ours before the user's own hooks, which go on as they did.

Two ways. Where hooks lie in the repository's own directory, a hook of the same name is moved aside and
called by ours. Where `core.hooksPath` names another directory (husky, a committed folder), nothing in there
is touched: we put a directory of our own before it, with a stub for every hook that git knows.
"""

from __future__ import annotations

from lineclear.app.setup.plan import Change, Move, Plan
from lineclear.clients.templating import fill

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

GUARDED = {
    "pre-commit": "git/hook.sh",
    "pre-push": "git/pre_push.sh",
    "reference-transaction": "git/ref_transaction.sh",
}
OTHERS = (
    "applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-applypatch", "post-checkout", "post-commit",
    "post-index-change", "post-merge", "post-receive", "post-rewrite", "post-update", "pre-applypatch",
    "pre-auto-gc", "pre-merge-commit", "pre-rebase", "pre-receive", "prepare-commit-msg", "proc-receive",
    "push-to-checkout", "sendemail-validate", "update",
)  # fmt: skip
KEPT = ".kept-by-lineclear"
_MARK = b"# lineclear: the gate before git's "


def is_ours(data: bytes | None) -> bool:
    return data is not None and _MARK in data[:200]


def stub(name: str, *, gate: str, kept: str, main_ref: str) -> bytes:
    template = GUARDED.get(name, "git/hook_other.sh")
    return fill(template, NAME=name, GATE=gate, KEPT=kept, MAIN=main_ref).encode()


# -- beside the user's own hooks ----------------------------------------------------------------


def plan_beside(
    directory: str, files: Mapping[str, bytes | None], main_ref: str, record: Mapping[str, Any]
) -> Plan:
    """`files`: what each guarded hook's path holds now, and its kept one's."""
    plan = Plan()
    plan.record = {"way": "beside", "directory": directory, "moved": list(record.get("moved", []))}
    for name in GUARDED:
        path = f"{directory}/{name}"
        before = files.get(path)
        after = stub(name, gate="../lineclear/gate", kept=f'"$0{KEPT}"', main_ref=main_ref)
        if before is not None and not is_ours(before):
            plan.changes.append(Move(path, path + KEPT))
            plan.record["moved"] = [*plan.record["moved"], name]
            before = None
        if before != after:
            plan.changes.append(Change(path, before, after, is_program=True))
    return plan


def plan_beside_remove(files: Mapping[str, bytes | None], record: Mapping[str, Any]) -> Plan:
    """Ours go; the kept ones come back to where ours stood, also where another tool had moved ours."""
    plan, directory = Plan(), record["directory"]
    for name in GUARDED:
        kept = f"{directory}/{name}{KEPT}"
        place = next(
            (path for path in _places(directory, name) if is_ours(files.get(path))), f"{directory}/{name}"
        )
        if is_ours(files.get(place)):
            plan.changes.append(Change(place, files.get(place), None))
        if files.get(kept) is not None:
            if files.get(place) is None or is_ours(files.get(place)):
                plan.changes.append(Move(kept, place))
            else:
                plan.notes.append(f"{place} is somebody's new hook; your former one stays in {kept}")
    return plan


def _places(directory: str, name: str) -> tuple[str, ...]:
    """`pre-commit install` moves the hook that it finds to NAME.legacy, and calls it."""
    return f"{directory}/{name}", f"{directory}/{name}.legacy", f"{directory}/{name}.old"


def looked_at(directory: str) -> list[str]:
    return [path for name in GUARDED for path in (*_places(directory, name), f"{directory}/{name}{KEPT}")]


# -- before another directory of hooks ------------------------------------------------------------


def plan_before(
    directory: str, files: Mapping[str, bytes | None], main_ref: str, former: str, quoted: str
) -> Plan:
    """`former` is what core.hooksPath says in this repository ("" when only the user's own settings say
    it), `quoted` the directory it means, for a shell."""
    plan = Plan()
    plan.record = {"way": "before", "directory": directory, "former": former}
    for name in (*GUARDED, *OTHERS):
        path = f"{directory}/{name}"
        after = stub(name, gate="../gate", kept=f"{quoted}/{name}", main_ref=main_ref)
        if files.get(path) != after:
            plan.changes.append(Change(path, files.get(path), after, is_program=True))
    return plan


def plan_before_remove(directory: str, files: Mapping[str, bytes | None]) -> Plan:
    plan = Plan()
    for name in (*GUARDED, *OTHERS):
        path = f"{directory}/{name}"
        if files.get(path) is not None:
            plan.changes.append(Change(path, files.get(path), None))
    return plan
