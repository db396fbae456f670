"""A repository, opened: its place, its settings, its store and the small ports beside it."""

from __future__ import annotations

import os

from lineclear.core.claims.resources import KNOWN, parse_resource, split_scheme
from lineclear.core.words.refusals import Refusal, refuse
from lineclear.git.layout import STATE_DIRECTORY, file_stem, find_layout, ignores_case, main_worktree
from lineclear.git.places import Places
from lineclear.host.bell import PipeBell
from lineclear.host.bonds import Bonds
from lineclear.host.clock import HostClock, boot_id
from lineclear.host.heartbeats import PresenceFiles
from lineclear.settings import load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from lineclear.app.ports import Caller, Store
    from lineclear.core.claims.resources import Resource
    from lineclear.git.layout import Layout
    from lineclear.host.bonds import HeldBond
    from lineclear.settings import Settings
    from lineclear.store.postgres.engine import ConnectionPool

SNAPSHOTS = "snapshots"


class Liveness:
    """Bonds of this host: dead when the lock is free, for agents after the grace (clients restart)."""

    __slots__ = ("_bonds", "_clock", "_grace_ns", "_host")

    def __init__(self, bonds: Bonds, clock: HostClock, host: str, grace_ms: int) -> None:
        self._bonds, self._clock, self._host = bonds, clock, host
        self._grace_ns = grace_ms * 1_000_000

    def is_dead(self, bond: str, /) -> bool:
        host, _, name = bond.partition("/")
        if host != self._host:
            return False
        dead_ns = self._bonds.dead_for_ns(name, self._clock.now())
        return dead_ns is not None and dead_ns >= (self._grace_ns if name.startswith("agent-") else 0)


class Repo:
    """One repository, opened: its place, settings, store and the small ports beside it."""

    __slots__ = (
        "_folds", "bonds", "clock", "environ", "layout", "liveness", "places", "presence", "settings",
        "state_directory", "store", "tree",
    )  # fmt: skip

    def __init__(self, layout: Layout, settings: Settings, store: Store, environ: Mapping[str, str]) -> None:
        self.layout, self.settings, self.store, self.environ = layout, settings, store, environ
        self.state_directory = state_directory(layout)
        self.clock = HostClock()
        self.bonds = Bonds(os.path.join(self.state_directory, "bonds"))
        self.presence = PresenceFiles(os.path.join(self.state_directory, "agents"))
        self.liveness = Liveness(self.bonds, self.clock, host_name(), settings.agents_grace_ms)
        self._folds = folds_case(layout, settings)
        self.places = Places(layout, self._folds, settings.paths_nfc)
        # In a team's store the main tree of every clone is a tree of its own.
        self.tree = f"{clone_name(self.state_directory)}/{layout.tree}" if settings.store_url else layout.tree

    def caller(self, given: str = "", op: str = "") -> Caller:
        from lineclear.app.agents.whoami import identify

        return identify(
            self.store,
            self.presence,
            environ=self.environ,
            tree=self.tree,
            person=person_name(self.settings, self.environ),
            given=given,
            op=op,
            keep_ms=self.settings.operations_keep_ms,
            silence_ms=self.settings.agents_silence_ms,
        )

    def resource(self, text: str, cwd: str) -> Resource:
        """What somebody typed, as the one resource it means, whatever way it was written.

        A bare path counts from where one stands; with `file:` or `symbol:` from the repository's root.
        """
        fold, nfc = self._folds, self.settings.paths_nfc
        schemes = (*KNOWN, *self.settings.resources_schemes)
        scheme, typed = split_scheme(text, schemes) if ":" in text else ("file", text)
        if scheme not in ("file", "symbol"):
            return parse_resource(text, fold_case=fold, nfc=nfc, schemes=schemes)
        start = cwd if typed is text else self.layout.worktree
        symbol = ""
        if scheme == "symbol":
            cut = typed.find("#", typed.rfind("/") + 1)
            if cut < 1:
                return parse_resource(text)  # refuses, in its own words
            typed, symbol = typed[:cut], typed[cut:]
        place, is_dir = self.places.locate(typed, start)
        is_dir = is_dir or typed.endswith("/")
        name = place or "./"
        return parse_resource(
            f"{scheme}:{name}{symbol}", is_dir=is_dir, fold_case=fold, nfc=nfc, schemes=schemes
        )

    def hold_bond(self, kind: str) -> tuple[str, HeldBond]:
        """A fresh bond of this process: (its name for the store, the held lock)."""
        name = f"{kind}-{os.getpid()}-{os.urandom(6).hex()}"
        return f"{host_name()}/{name}", self.bonds.hold(name)

    def close(self) -> None:
        self.store.close()


def state_directory(layout: Layout) -> str:
    return os.path.join(layout.common_dir, STATE_DIRECTORY)


def mark_of(repo: Repo, tree: str) -> str:
    """The file whose time says when somebody last began a snapshot of this worktree."""
    name = tree.removeprefix(repo.tree.removesuffix(repo.layout.tree))
    return f"{file_stem(f'{repo.state_directory}/{SNAPSHOTS}', name)}.mark"


def state_directory_at(cwd: str, environ: Mapping[str, str]) -> str:
    """The same, seen from a directory; "" outside a repository."""
    try:
        return state_directory(find_layout(cwd, environ))
    except Refusal:
        return ""


def clone_name(directory: str) -> str:
    """A name that this clone keeps for good, made when it is first needed."""
    path = os.path.join(directory, "clone")
    try:
        with open(path, encoding="ascii") as file:
            return file.read().strip()
    except FileNotFoundError:
        pass
    os.makedirs(directory, mode=0o700, exist_ok=True)
    name = f"clone-{os.urandom(4).hex()}"
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return clone_name(directory)
    with os.fdopen(fd, "w", encoding="ascii") as file:
        file.write(name)
    return name


def host_name() -> str:
    """This host for as long as it runs: locks do not outlive a boot."""
    return boot_id()[:13]


def folds_case(layout: Layout, settings: Settings) -> bool:
    if settings.paths_fold_case == "auto":
        return ignores_case(layout.common_dir)
    return settings.paths_fold_case == "true"


def person_name(settings: Settings, environ: Mapping[str, str]) -> str:
    """A plain name for the person: the setting, the variable, or the login name."""
    given = (
        environ.get("LINECLEAR_PERSON")
        or settings.agents_person
        or environ.get("USER")
        or environ.get("LOGNAME")
    )
    if given and given.isascii() and given.isalnum():
        return given[:64]
    plain = "".join(ch if (ch.isalnum() and ch.isascii()) or ch in "._-" else "-" for ch in given or "person")
    return plain.strip("-._")[:64] or "person"


def settings_root(layout: Layout) -> str:
    """Where lineclear.toml is read: always the main worktree, so that no agent's branch can change it."""
    return main_worktree(layout.common_dir) or layout.worktree


def read_settings(
    layout: Layout, environ: Mapping[str, str], flags: Mapping[str, str] | None = None
) -> Settings:
    return load_settings(
        root=settings_root(layout),
        local_dir=state_directory(layout),
        environ=environ,
        flags=flags or {},
        folds_case=ignores_case(layout.common_dir),
    )


def open_repo(cwd: str, environ: Mapping[str, str]) -> Repo:
    layout = find_layout(cwd, environ)
    settings = read_settings(layout, environ)
    layout.landing = settings.queue_branch
    return Repo(layout, settings, open_store(layout, settings), environ)


_pools: list[ConnectionPool | None] = []


def stay_warm() -> None:
    """This process stays: connections to a server are kept for whoever opens the store next."""
    if not _pools:
        _pools.append(None)


# Who must not keep an agent waiting gives up on a server that says nothing for so long.
HASTE_S = 2.0


def open_store(layout: Layout, settings: Settings, *, is_hasty: bool = False) -> Store:
    if settings.store_url:
        from lineclear.store.postgres.engine import PATIENCE_S, ConnectionPool, PostgresStore

        if _pools == [None]:
            _pools[0] = ConnectionPool()
        return PostgresStore(
            settings.store_url, settings.repo_id, patience_s=HASTE_S if is_hasty else PATIENCE_S,
            pool=_pools[0] if _pools else None,
        )  # fmt: skip
    directory = state_directory(layout)
    if not os.path.exists(os.path.join(directory, "state.db")):
        raise (
            refuse("store.team", repo_id=settings.repo_id)
            if settings.repo_id
            else refuse("store.missing", path=directory)
        )
    return open_sqlite(directory)


def open_sqlite(directory: str) -> Store:
    _load_apsw()
    from lineclear.store.sqlite.engine import SqliteStore

    return SqliteStore(directory, HostClock().now, PipeBell(os.path.join(directory, "bells")))


def _load_apsw() -> None:
    """It looks for one class in `collections.abc`, whose package costs a hook a third of an interpreter's
    start. The module behind that name is loaded already: it is lent both names while apsw looks."""
    import sys

    if "apsw" in sys.modules or "collections" in sys.modules:
        return
    import _collections_abc

    package = type(sys)("collections")
    package.abc = _collections_abc  # type: ignore[attr-defined]
    lent = {"collections": package, "collections.abc": _collections_abc}
    sys.modules.update(lent)
    try:
        import apsw  # noqa: F401
    except (AttributeError, ImportError):
        pass  # one that looks for more finds it when it is loaded next
    finally:
        for name in lent:
            sys.modules.pop(name, None)
