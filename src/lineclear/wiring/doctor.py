"""The doctor: is everything lineclear stands on as it must be? Each check answers; none of them raises."""

from __future__ import annotations

import os

from lineclear.core.words.refusals import Refusal
from lineclear.git.layout import find_layout, landing_branch
from lineclear.git.run import GitFailed, git
from lineclear.host.files import free_bytes, is_network_fs
from lineclear.wiring.repo import Repo, open_repo, state_directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Finding = dict[str, str]

OK, NOTE, PROBLEM = "ok", "note", "problem"
LEAST_FREE_BYTES = 64 * 1024 * 1024
LEAST_GIT = (2, 38)
SOON_NS = 7 * 86_400 * 1_000_000_000


def examine(cwd: str, environ: Mapping[str, str], *, fix: bool) -> list[Finding]:
    found = [*_guard("git", lambda: _git(cwd)), *_guard("place", lambda: _place(cwd, environ))]
    try:
        repo = open_repo(cwd, environ)
    except Refusal as refusal:
        return [*found, _finding(PROBLEM, "store", str(refusal).replace("\n", " "))]
    try:
        for name, check in (
            ("settings", _settings),
            ("trust", _trust),
            ("store", _store),
            ("log", _log),
            ("tokens", _tokens),
            ("serve", _server),
            ("leftovers", _leftovers),
            ("hooks", _hooks),
            ("clients", _clients),
        ):
            found += _guard(name, lambda check=check: check(repo, fix))  # type: ignore[misc]
    finally:
        repo.close()
    return found


def _finding(state: str, what: str, text: str) -> Finding:
    return {"state": state, "what": what, "text": text}


def _guard(what: str, check: Callable[[], Iterator[tuple[str, str]]]) -> list[Finding]:
    try:
        return [_finding(state, what, text) for state, text in check()]
    except Refusal as refusal:
        return [_finding(PROBLEM, what, str(refusal).replace("\n", " "))]
    except (OSError, GitFailed) as error:
        return [_finding(PROBLEM, what, f"{type(error).__name__}: {error}")]


def _git(cwd: str) -> Iterator[tuple[str, str]]:
    text = git(["--version"], cwd).decode().strip()
    numbers = tuple(int(part) for part in text.split()[2].split(".")[:2])
    is_new = numbers >= LEAST_GIT
    yield (OK, text) if is_new else (PROBLEM, f"{text}; 2.38 or newer is needed (merge-tree --write-tree)")


def _place(cwd: str, environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    layout = find_layout(cwd, environ)
    directory = state_directory(layout)
    network = is_network_fs(layout.common_dir)
    if network:
        yield PROBLEM, f"{layout.common_dir} is on {network}: use PostgreSQL (lineclear init --store URL)"
    free = free_bytes(layout.common_dir)
    yield (
        (OK if free >= LEAST_FREE_BYTES else PROBLEM),
        f"{free // (1024 * 1024)} MiB free where the store lies",
    )
    if os.path.isdir(directory) and os.stat(directory).st_mode & 0o077:
        yield PROBLEM, f"{directory} can be read by others: chmod 700 it"
    branch = landing_branch(layout.common_dir)
    yield (OK, f"main is {branch}") if branch else (NOTE, "no main branch found yet")


def _settings(repo: Repo, _fix: bool) -> Iterator[tuple[str, str]]:
    for warning in repo.settings.warnings:
        yield NOTE, warning
    if repo.settings.merge_regenerate:
        from lineclear.wiring.lock_making import idle_patterns

        names = git(["ls-files", "-z", "--full-name"], repo.layout.worktree, timeout_s=600)
        for idle in idle_patterns(repo.settings, names.decode("utf-8", "surrogateescape").split("\0")):
            yield NOTE, idle
    yield OK, f"{len(repo.settings.rules)} strategies beside the defaults"


def _trust(repo: Repo, _fix: bool) -> Iterator[tuple[str, str]]:
    from lineclear.wiring.trust import judged, untrusted

    missing = [stated.where for stated in untrusted(repo)]
    if missing:
        named = ", ".join(missing[:5]) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
        yield (
            NOTE,
            f"lineclear.toml asks for what is not trusted: {named}; look with `lineclear trust --show`",
        )
    else:
        yield OK, f"nothing of lineclear.toml waits for trust ({len(judged(repo))} trusted)"


def _store(repo: Repo, _fix: bool) -> Iterator[tuple[str, str]]:
    holder = _gate_holder(repo)
    if holder:
        yield PROBLEM, f"{holder} holds the gate and does not let go; if it is stopped, continue or end it"
    info = repo.store.info()
    if info["kind"] == "sqlite":
        safe = (
            "safe by itself"
            if info["library_is_safe_alone"]
            else "has the WAL-reset bug; our gate keeps it safe"
        )
        yield OK, f"SQLite {info['library']} ({safe}), schema {info['schema']}, {info['size_bytes']} bytes"
    else:
        yield OK, ", ".join(f"{name} {value}" for name, value in sorted(info.items()))
    for damage in repo.store.check():
        yield PROBLEM, damage


def _gate_holder(repo: Repo) -> str:
    """Who keeps all writers waiting; a transaction holds the gate for milliseconds."""
    from lineclear.store.sqlite.writer_lock import WriterLock, holder_of

    path = os.path.join(repo.state_directory, "state.lock")
    if repo.store.kind != "sqlite":
        return ""
    try:
        with WriterLock(path, limit_s=1.0):
            return ""
    except Refusal:
        return holder_of(path)


def _log(repo: Repo, _fix: bool) -> Iterator[tuple[str, str]]:
    from lineclear.app.log import audit

    report = audit(repo.store)
    for finding in report["findings"][:10]:
        yield PROBLEM, f"{finding['kind']} at {finding['position']}: {finding['text']}"
    if not report["findings"]:
        yield OK, f"{report['events']} events and the tables agree"


def _tokens(repo: Repo, _fix: bool) -> Iterator[tuple[str, str]]:
    """The one that is shown to us, and those that end soon."""
    from lineclear.app.agents.tokens import list_tokens, verify
    from lineclear.core.instants import show_wall

    token = repo.environ.get("LINECLEAR_TOKEN", "")
    soon = repo.clock.now().wall_ns + SOON_NS
    for row in repo.store.read(list_tokens):
        if row["state"] == "live" and (row["expires_at"] or "9") <= show_wall(soon):
            yield NOTE, f"token {row['id']} of the {row['kind']} {row['name']} ends at {row['expires_at']}"
    if token:
        bearer = repo.store.read(lambda view: verify(view, token))
        yield OK, f"LINECLEAR_TOKEN is the {bearer.kind} {bearer.name}'s"


def _server(repo: Repo, _fix: bool) -> Iterator[tuple[str, str]]:
    from lineclear import __version__
    from lineclear.host import server_address as doors
    from lineclear.host.bonds import SUPERVISOR

    door = doors.read_address(repo.state_directory)
    is_running = doors.is_held(repo.state_directory)
    again = "`lineclear serve --stop` and start it again"
    if door is not None and is_running and door.version != __version__:
        yield NOTE, f"the server is version {door.version}, this is {__version__}: {again}"
    elif is_running:
        yield OK, f"served at {door.url} (process {door.pid})" if door else "a server is starting or ending"
    elif door is not None and repo.bonds.is_held(SUPERVISOR):
        yield OK, f"`lineclear run` answers hooks (process {door.pid})"
    elif door is not None:
        yield NOTE, "the last server was killed; commands and hooks work without it"
    try:
        errors = os.path.getsize(f"{doors.directory_of(repo.state_directory)}/{doors.LOG}")
    except OSError:
        return
    if errors:
        yield NOTE, f"the server noted errors: {doors.directory_of(repo.state_directory)}/{doors.LOG}"


def _leftovers(repo: Repo, fix: bool) -> Iterator[tuple[str, str]]:
    """Agents whose process died keep nothing; files of dead processes go away."""
    from lineclear.app.agents.membership import bury

    if fix:
        freed = bury(repo.store, repo.caller(), repo.liveness)
        if freed:
            yield OK, f"freed what dead agents held: {', '.join(freed)}"
    stale = [name for name in _bond_files(repo) if not repo.bonds.is_held(name)]
    if fix:
        for name in stale:
            os.unlink(os.path.join(repo.state_directory, "bonds", name))
        yield OK, f"{len(stale)} lock files of ended processes removed"
    elif stale:
        yield NOTE, f"{len(stale)} lock files of ended processes; `lineclear doctor --fix` removes them"


def _bond_files(repo: Repo) -> list[str]:
    try:
        return sorted(os.listdir(os.path.join(repo.state_directory, "bonds")))
    except FileNotFoundError:
        return []


def _clients(repo: Repo, _fix: bool) -> Iterator[tuple[str, str]]:
    """Are the hooks of the clients that were set up still as set-up would make them?"""
    from lineclear.app.setup.planning import plan_install
    from lineclear.wiring.setup import clone_of

    clone = clone_of(repo.layout, repo.environ)
    for name in clone.installed_clients():
        steps = plan_install(clone, name).steps()
        again = f"; run `lineclear setup {name}`"
        yield (NOTE, f"{name}: {steps[0]}{again}") if steps else (OK, f"{name} is set up")


def _hooks(repo: Repo, fix: bool) -> Iterator[tuple[str, str]]:
    """Calls that a hook let pass because it failed; `--fix` forgets them."""
    path = os.path.join(repo.state_directory, "hook-errors.log")
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read(1 << 20).splitlines()
    except FileNotFoundError:
        return
    if fix:
        os.unlink(path)
        yield OK, f"{len(lines)} errors of hooks forgotten"
    elif lines:
        yield NOTE, f"hooks failed {len(lines)} times and let their calls pass; the last: {lines[-1][:300]}"
