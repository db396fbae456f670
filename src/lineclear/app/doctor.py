"""The doctor: checks whether everything that lineclear depends on is in order. Failures become findings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from lineclear.app.agents.dead_agents import free_dead_agents
from lineclear.app.agents.tokens import list_tokens, verify
from lineclear.app.log import audit
from lineclear.app.setup.planning import MERGE_DRIVER, plan_install
from lineclear.core.git_versions import LEAST_WORDS, is_new_enough
from lineclear.core.instants import show_wall
from lineclear.core.log.tables import LOG
from lineclear.core.words.refusals import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from lineclear.app.agents.trust import Trust
    from lineclear.app.ports import Caller, Liveness, Store
    from lineclear.app.setup.clone import SetupClone

    Finding = dict[str, str]
    Answers = Iterator[tuple[str, str]]

OK, NOTE, PROBLEM = "ok", "note", "problem"
# Replaying takes about a second for so many events.
MOST_REPLAYED = 50_000
LEAST_FREE_BYTES = 64 * 1024 * 1024
SOON_NS = 7 * 86_400 * 1_000_000_000


def examine(
    checks: Iterable[tuple[str, Callable[[], Answers]]], failures: tuple[type[Exception], ...]
) -> list[Finding]:
    """The findings of all checks. `failures`: errors of the machine or of git that also become findings."""
    found = []
    for what, check in checks:
        try:
            found += [_finding(state, what, text) for state, text in check()]
        except Refusal as refusal:
            found.append(refused(what, refusal))
        except failures as error:
            found.append(_finding(PROBLEM, what, f"{type(error).__name__}: {error}"))
    return found


def refused(what: str, refusal: Refusal) -> Finding:
    return _finding(PROBLEM, what, str(refusal).replace("\n", " "))


def _finding(state: str, what: str, text: str) -> Finding:
    return {"state": state, "what": what, "text": text}


def check_git(version: str) -> Answers:
    """`version`: the output of `git version`."""
    if is_new_enough(version):
        yield OK, version
    else:
        yield PROBLEM, f"{version}; {LEAST_WORDS} or newer is needed (merge-tree --write-tree)"


@dataclass(frozen=True, slots=True, kw_only=True)
class StorePlace:
    """Where the repository and its store are. `network`: the network file system there, "" for none;
    `is_open`: other users can read the state directory; `is_writable`: we can write to the repository;
    `branch`: main."""

    common_dir: str
    state_directory: str
    network: str
    free_bytes: int
    is_open: bool
    is_writable: bool
    branch: str


def check_place(place: StorePlace) -> Answers:
    if place.network:
        yield (
            PROBLEM,
            f"{place.common_dir} is on {place.network}: use PostgreSQL (lineclear init --store URL)",
        )
    if not place.is_writable:
        yield PROBLEM, f"{place.common_dir} cannot be written: a read-only file system, or not your directory"
    is_enough = place.free_bytes >= LEAST_FREE_BYTES
    free = f"{place.free_bytes // (1024 * 1024)} MiB free on the disk of the store"
    yield (OK if is_enough else PROBLEM), free
    if place.is_open:
        yield PROBLEM, f"{place.state_directory} can be read by others: chmod 700 it"
    yield (OK, f"main is {place.branch}") if place.branch else (NOTE, "no main branch found yet")


def check_settings(
    warnings: Iterable[str], strategies: int, idle: Iterable[str], uncommitted: Iterable[str]
) -> Answers:
    """`idle`: warnings about settings that have no effect in this repository; `uncommitted`: about those that
    do not count, since main has not committed them."""
    for warning in uncommitted:
        yield PROBLEM, warning
    for warning in (*warnings, *idle):
        yield NOTE, warning
    yield OK, f"{strategies} strategies beside the defaults"


def check_trust(trust: Trust) -> Answers:
    missing = [stated.where for stated in trust.missing()]
    if missing:
        named = ", ".join(missing[:5]) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
        yield (
            NOTE,
            f"not trusted yet in lineclear.toml: {named}; review with `lineclear trust --show`",
        )
    else:
        yield OK, f"nothing in lineclear.toml needs trust ({len(trust.judged())} trusted)"


def check_store(store: Store, gate_holder: str, unwritable: str) -> Answers:
    """`gate_holder`: the process that blocks all writers, if any; normally a transaction takes
    milliseconds. `unwritable`: why nobody can write here, "" if we can."""
    if unwritable:
        yield PROBLEM, f"the store cannot be written: {unwritable}"
    if gate_holder:
        yield (
            PROBLEM,
            f"{gate_holder} keeps holding the write lock; if it is suspended, resume or end it",
        )
    info = store.info()
    if info["kind"] == "sqlite":
        safe = (
            "safe by itself"
            if info["library_is_safe_alone"]
            else "has the WAL-reset bug; lineclear's write lock keeps it safe"
        )
        yield OK, f"SQLite {info['library']} ({safe}), schema {info['schema']}, {info['size_bytes']} bytes"
    else:
        yield OK, ", ".join(f"{name} {value}" for name, value in sorted(info.items()))
    for damage in store.check():
        yield PROBLEM, damage


def check_log(store: Store) -> Answers:
    events = store.read(lambda view: view.count(LOG, "key"))
    if events > MOST_REPLAYED:
        yield (
            NOTE,
            f"{events} events were not replayed; `lineclear audit` compares all of them with the tables",
        )
        return
    report = audit(store)
    for finding in report["findings"][:10]:
        yield PROBLEM, f"{finding['kind']} at {finding['position']}: {finding['text']}"
    if not report["findings"]:
        yield OK, f"{report['events']} events and the tables agree"


def check_tokens(store: Store, token: str, now_ns: int) -> Answers:
    """Check the caller's token, and list tokens that expire soon. `now_ns`: wall-clock time."""
    soon = show_wall(now_ns + SOON_NS)
    for row in store.read(list_tokens):
        if row["state"] == "live" and (row["expires_at"] or "9") <= soon:
            yield NOTE, f"token {row['id']} of the {row['kind']} {row['name']} ends at {row['expires_at']}"
    if token:
        bearer = store.read(lambda view: verify(view, token))
        yield OK, f"LINECLEAR_TOKEN belongs to the {bearer.kind} {bearer.name}"


class ServerDoor(Protocol):
    """The address that a server, or a `run` that answers hooks, has published."""

    @property
    def url(self) -> str: ...
    @property
    def pid(self) -> int: ...
    @property
    def version(self) -> str: ...


def check_server(
    door: ServerDoor | None, *, version: str, is_running: bool, is_supervised: bool, error_log: str
) -> Answers:
    """`version`: our own. `is_supervised`: `lineclear run` is active. `error_log`: its path, "" if empty."""
    again = "`lineclear serve --stop` and start it again"
    if door is not None and is_running and door.version != version:
        yield NOTE, f"the server is version {door.version}, this is {version}: {again}"
    elif is_running:
        yield OK, f"served at {door.url} (process {door.pid})" if door else "a server is starting or ending"
    elif door is not None and is_supervised:
        yield OK, f"`lineclear run` answers hooks (process {door.pid})"
    elif door is not None:
        yield NOTE, "the last server was killed; commands and hooks work without it"
    if error_log:
        yield NOTE, f"the server logged errors: {error_log}"


class BondFiles(Protocol):
    """The lock files that show which processes are alive."""

    def ended(self) -> list[str]:
        """The names of those whose process has ended."""

    def remove(self, name: str, /) -> None: ...


def check_leftovers(
    store: Store, liveness: Liveness, bonds: BondFiles, caller: Callable[[], Caller], *, fix: bool
) -> Answers:
    """Find lock files of ended processes; with `fix` remove them, and free what dead agents hold."""
    if fix:
        freed = free_dead_agents(store, caller(), liveness)
        if freed:
            yield OK, f"freed what dead agents held: {', '.join(freed)}"
    ended = bonds.ended()
    if fix:
        for name in ended:
            bonds.remove(name)
        yield OK, f"{len(ended)} lock files of ended processes removed"
    elif ended:
        yield NOTE, f"{len(ended)} lock files of ended processes; `lineclear doctor --fix` removes them"


def check_hooks(errors: list[str] | None, forget: Callable[[], None], *, fix: bool) -> Answers:
    """`errors`: one line for each call that a hook let pass because it failed; None without a log. With `fix`
    they are cleared."""
    if errors is None:
        return
    if fix:
        forget()
        yield OK, f"{len(errors)} hook errors cleared"
    elif errors:
        yield NOTE, f"hooks failed {len(errors)} times and let their calls pass; the last: {errors[-1][:300]}"


def check_clients(clone: SetupClone) -> Answers:
    """Are the hooks of the installed clients still as `lineclear setup` would write them?"""
    for name in clone.installed_clients():
        steps = plan_install(clone, name).steps()
        again = f"; run `lineclear setup {name}`"
        yield (NOTE, f"{name}: {steps[0]}{again}") if steps else (OK, f"{name} is set up")
    facts = clone.facts(clone.clients.module(MERGE_DRIVER), clone.root, {})
    if facts.git_settings["merge.lineclear.driver"].startswith("lineclear "):
        yield (
            PROBLEM,
            "git's merge driver was set up by an older release: where `lineclear` is not on the PATH, git "
            f"drops one side of a conflict; run `lineclear setup {MERGE_DRIVER}`",
        )
