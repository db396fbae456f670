"""A repository, opened: its place, its settings, its store and the small ports beside it."""

from __future__ import annotations

import os

from lineclear.core.words.refusals import Refusal, refuse
from lineclear.git.layout import STATE_DIRECTORY, file_stem, find_layout, ignores_case, main_worktree
from lineclear.git.main_settings import main_file
from lineclear.git.typed_paths import WorktreePaths
from lineclear.host.bell import PipeBell
from lineclear.host.bonds import BondLiveness, Bonds
from lineclear.host.clock import HostClock
from lineclear.host.heartbeats import PresenceFiles
from lineclear.host.host_names import clone_name, host_name, person_name
from lineclear.settings import TEAM_FILE, load_settings
from lineclear.settings.loading import load_under

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


class Repo:
    """One repository, opened: its place, settings, store and the small ports beside it."""

    __slots__ = (
        "bonds", "clock", "environ", "host", "layout", "liveness", "places", "presence", "settings",
        "state_directory", "store", "tree",
    )  # fmt: skip

    def __init__(self, layout: Layout, settings: Settings, store: Store, environ: Mapping[str, str]) -> None:
        self.layout, self.settings, self.store, self.environ = layout, settings, store, environ
        self.state_directory = state_directory(layout)
        self.clock = HostClock()
        self.bonds = Bonds(os.path.join(self.state_directory, "bonds"))
        self.presence = PresenceFiles(os.path.join(self.state_directory, "agents"))
        self.places = WorktreePaths(layout, folds_case(layout, settings), settings.paths_nfc)
        self.host, self.tree = host_name(), layout.tree
        if settings.store_url:
            # In a team's store every clone has its own main tree, and its own locks: another clone on this
            # host cannot tell whether ours are held.
            clone = clone_name(self.state_directory)
            self.host, self.tree = f"{self.host}.{clone}", f"{clone}/{self.tree}"
        self.liveness = BondLiveness(self.bonds, self.clock, self.host, settings.agents_grace_ms)

    def caller(self, given: str = "", op: str = "") -> Caller:
        from lineclear.app.agents.whoami import identify

        return identify(
            self.store,
            self.presence,
            environ=self.environ,
            tree=self.tree,
            person=person_name(self.settings.agents_person, self.environ),
            given=given,
            op=op,
            keep_ms=self.settings.operations_keep_ms,
            silence_ms=self.settings.agents_silence_ms,
        )

    def resource(self, text: str, cwd: str) -> Resource:
        """What somebody typed, as the one resource it means, whatever way it was written.

        A bare path counts from where one stands; with `file:` or `symbol:` from the repository's root.
        """
        return self.places.resource(text, cwd, self.settings.resources_schemes)

    def hold_bond(self, kind: str) -> tuple[str, HeldBond]:
        """A fresh bond of this process: (its name for the store, the held lock)."""
        name = f"{kind}-{os.getpid()}-{os.urandom(6).hex()}"
        return f"{self.host}/{name}", self.bonds.hold(name)

    def close(self) -> None:
        self.store.close()


def state_directory(layout: Layout) -> str:
    return os.path.join(layout.common_dir, STATE_DIRECTORY)


def mark_of(repo: Repo, tree: str) -> str:
    """The file whose time says when somebody last began a snapshot of this worktree."""
    name = tree.removeprefix(repo.tree.removesuffix(repo.layout.tree))
    return f"{file_stem(f'{repo.state_directory}/{SNAPSHOTS}', name)}.mark"


def edited_of(repo: Repo, tree: str) -> str:
    """The file whose time says when a hook last heard of an edit in this worktree, for who saves it."""
    return mark_of(repo, tree).removesuffix("mark") + "edited"


def state_directory_at(cwd: str, environ: Mapping[str, str]) -> str:
    """The same, seen from a directory; "" outside a repository."""
    try:
        return state_directory(find_layout(cwd, environ))
    except Refusal:
        return ""


def folds_case(layout: Layout, settings: Settings) -> bool:
    if settings.paths_fold_case == "auto":
        return ignores_case(layout.common_dir)
    return settings.paths_fold_case == "true"


def settings_root(layout: Layout) -> str:
    """Where lineclear.toml is read: always the main worktree, so that no agent's branch can change it."""
    return main_worktree(layout.common_dir) or layout.worktree


def may_be_agent(layout: Layout, environ: Mapping[str, str], given: str = "") -> bool:
    """Without the store, which alone knows the tokens and whose worktree this is: everybody but a caller in
    the main worktree who has no sign of an agent, no token and no given name."""
    from lineclear.core.agents.identity import read_environment

    is_named = bool(given or environ.get("LINECLEAR_TOKEN"))
    return is_named or not layout.is_main or read_environment(environ)[2]


def read_settings(
    layout: Layout, environ: Mapping[str, str], flags: Mapping[str, str] | None = None, *, given: str = "",
    for_agent: bool = False,
) -> Settings:  # fmt: skip
    """`given`: the name that the caller gave. `for_agent`: an agent is calling, whatever the signs say."""
    settings = load_settings(
        root=settings_root(layout),
        local_dir=state_directory(layout),
        environ=environ,
        flags=flags or {},
        folds_case=ignores_case(layout.common_dir),
        for_agent=for_agent or may_be_agent(layout, environ, given),
    )
    _guard_rules(layout, settings, environ)
    return settings


def _guard_rules(layout: Layout, settings: Settings, environ: Mapping[str, str]) -> None:
    """Keep the strategies that main has committed, where the file in the main worktree says less."""
    directory = state_directory(layout)
    committed = main_file(layout.common_dir, directory, settings.queue_branch, TEAM_FILE)
    if committed is None or committed == (settings.team or b""):
        return
    from lineclear.core.claims.strategies import UncommittedRules

    try:
        at_main = load_under(
            committed, root=settings.root, local_dir=directory, environ=environ,
            folds_case=ignores_case(layout.common_dir),
        )  # fmt: skip
    except Refusal:
        return  # main's file cannot be read: nothing lands, and every landing says so
    settings.rules = UncommittedRules(settings.rules, at_main.rules)


def open_repo(cwd: str, environ: Mapping[str, str], given: str = "") -> Repo:
    layout = find_layout(cwd, environ)
    settings = read_settings(layout, environ, given=given)
    layout.landing = settings.queue_branch
    return Repo(layout, settings, open_store(layout, settings), environ)


_pools: list[ConnectionPool | None] = []


def stay_warm() -> None:
    """Keep connections to a server open for the next use of the store, since this process stays."""
    if not _pools:
        _pools.append(None)


# Who must not keep an agent waiting gives up on a server that says nothing for so long.
HASTE_S = 2.0


def open_store(layout: Layout, settings: Settings, *, is_hasty: bool = False) -> Store:
    require_trusted_store(settings)
    if settings.store_url:
        from lineclear.host.store_outages import Outage
        from lineclear.store.postgres.engine import PATIENCE_S, ConnectionPool, PostgresStore

        if _pools == [None]:
            _pools[0] = ConnectionPool()
        return PostgresStore(
            settings.store_url, settings.repo_id, patience_s=HASTE_S if is_hasty else PATIENCE_S,
            pool=_pools[0] if _pools else None, outage=Outage(state_directory(layout)),
        )  # fmt: skip
    directory = state_directory(layout)
    if not os.path.exists(os.path.join(directory, "state.db")):
        raise (
            refuse("store.team", repo_id=settings.repo_id)
            if settings.repo_id
            else refuse("store.missing", path=directory)
        )
    return open_sqlite(directory)


def require_trusted_store(settings: Settings) -> None:
    """Refuse if the team's file names a store that nobody here trusts: an own store in its place would keep
    this clone apart from the team."""
    if "store.url" in settings.held:
        from lineclear.core.trust import Stated
        from lineclear.core.words.computed.settings import not_trusted

        raise not_trusted([Stated("store.url", settings.held["store.url"])])


def open_sqlite(directory: str) -> Store:
    _load_apsw()
    from lineclear.store.sqlite.engine import SqliteStore

    return SqliteStore(directory, HostClock().now, bell_in(directory))


def bell_in(directory: str) -> PipeBell:
    return PipeBell(os.path.join(directory, "bells"))


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
