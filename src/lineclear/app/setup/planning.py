"""What set-up will do for one client in a clone: planned first and shown; applying.py changes something."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from lineclear.app.setup import text_blocks
from lineclear.app.setup.plan import FORMAT, CannotSetUp, SetupChange, SetupPlan
from lineclear.core.words.refusals import refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from lineclear.app.setup.clone import SetupClone
    from lineclear.app.setup.plan import FileMove, SetupFacts

MERGE_DRIVER = "git-merge"


@dataclass(slots=True)
class PlannedSetup:
    """What will be done for one client, in all worktrees. `record` None: nothing is to be remembered."""

    clone: SetupClone
    name: str
    is_removal: bool = False
    changes: list[SetupChange | FileMove] = field(default_factory=list)
    git_settings: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    directories: list[str] = field(default_factory=list)
    record: dict[str, Any] | None = None

    def add(self, plan: SetupPlan) -> None:
        self.changes += plan.changes
        self.git_settings |= plan.git_settings
        self.directories += plan.directories
        self.notes += [note for note in plan.notes if note not in self.notes]

    def steps(self) -> list[str]:
        """In words, for a person who looks at the plan first."""
        lines = [str(change) for change in self.changes]
        for name, value in self.git_settings.items():
            lines.append(f"git config {shlex.join([name, value] if value else ['--unset', name])}")
        return lines


def check_name(clone: SetupClone, name: str) -> None:
    if name not in clone.clients.names():
        raise refuse("setup.unknown", name=name, known=clone.clients.names())


def plan_install(
    clone: SetupClone, name: str, roots: Sequence[str] | None = None, *, has_server: bool | None = None
) -> PlannedSetup:
    """For the main worktree and, where the client needs that, for the others.

    `has_server`: with our MCP server, or without; None: as it was set up before.
    """
    planned, old = PlannedSetup(clone, name), clone.record(name)
    wanted = bool(old.get("server")) if has_server is None else has_server
    record: dict[str, Any] = {"format": FORMAT, "client": name, "server": wanted, "files": {}}
    module = clone.clients.module(name)
    private: list[str] = []
    for root in clone.worktrees_for(module) if roots is None else roots:
        facts = replace(clone.facts(module, root, old), has_server=wanted)
        plan = _asked(module.plan_install, facts)
        if not facts.is_main:
            _leave_tracked(plan, facts)
            _say_commit(planned, facts)
        _refuse_links(clone, root, plan)
        planned.add(plan)
        if plan.own_record:
            planned.record = {"format": FORMAT, "client": name, **plan.own_record}
        record["files"] |= plan.record.get("files", {})
        private += [path.removeprefix(root + "/") for path in plan.private if path.startswith(root + "/")]
    if roots is not None:
        record["files"] = old.get("files", {}) | record["files"]
    _keep_out_of_git(planned, record, old, private)
    if record["files"]:
        _plan_stub(planned)
        _note_directories(planned, record, old)
        planned.record = record
    return planned


def _leave_tracked(plan: SetupPlan, facts: SetupFacts) -> None:
    """Tracked files come with a merge; changing them here would put us into somebody's next commit."""
    plan.changes = [change for change in plan.changes if change.path not in facts.shared]
    kept = plan.record.get("files", {})
    plan.record["files"] = {path: noted for path, noted in kept.items() if path not in facts.shared}


def _refuse_links(clone: SetupClone, root: str, plan: SetupPlan) -> None:
    """A repository may hold a link in place of a settings file; what it leads to is not the repository's.
    The user's own settings may be links."""
    for change in plan.changes:
        if change.path.startswith(root + "/") and clone.files.leads_out(change.path, root):
            raise refuse("setup.link", path=change.path.removeprefix(root + "/"))


def _say_commit(planned: PlannedSetup, facts: SetupFacts) -> None:
    changed = {change.path for change in planned.changes}
    for path in sorted(path.removeprefix(facts.root + "/") for path in facts.shared):
        note = (
            f"{path} is tracked by git: other worktrees get this change when you commit it and they merge it"
        )
        if note not in planned.notes and f"{planned.clone.root}/{path}" in changed:
            planned.notes.append(note)


def _keep_out_of_git(
    planned: PlannedSetup, record: dict[str, Any], old: Mapping[str, Any], private: Sequence[str]
) -> None:
    """Lines in .git/info/exclude for what we made, unless git ignores it already for another reason."""
    clone = planned.clone
    wanted = sorted({*private, *(line.removeprefix("/") for line in old.get("excludes", []))})
    fresh = [path for path in wanted if f"/{path}" not in old.get("excludes", [])]
    ignored = clone.git.ignored(fresh) if fresh else []
    record["excludes"] = [f"/{path}" for path in wanted if path not in ignored]
    plan = SetupPlan()
    facts = clone.facts_of_exclude_file(old)
    text_blocks.install(plan, facts, clone.exclude_file, planned.name, record["excludes"])
    record["files"] |= plan.record.get("files", {}) if record["files"] else {}
    planned.add(plan)


def _plan_stub(planned: PlannedSetup) -> None:
    clone = planned.clone
    text, before = clone.clients.stub_text().encode(), clone.files.read(clone.stub)
    if before != text:
        planned.changes.append(SetupChange(clone.stub, before, text, is_program=True))


def _note_directories(planned: PlannedSetup, record: dict[str, Any], old: Mapping[str, Any]) -> None:
    """Those that we make are ours to remove."""
    made_before = old.get("directories", [])
    missing = planned.clone.files.missing_directories(change.path for change in planned.changes)
    record["directories"] = made_before + [path for path in missing if path not in made_before]


def plan_remove(clone: SetupClone, name: str) -> PlannedSetup:
    """Everything that the record names, wherever it is."""
    planned, old = PlannedSetup(clone, name, is_removal=True), clone.record(name)
    module = clone.clients.module(name)
    for root in clone.worktrees_for(module):
        facts = clone.facts(module, root, old)
        plan = _asked(module.plan_remove, facts)
        if not facts.is_main:
            _leave_tracked(plan, facts)
        planned.add(plan)
    plan = SetupPlan()
    text_blocks.remove(plan, clone.facts_of_exclude_file(old), clone.exclude_file, name)
    planned.add(plan)
    planned.directories += old.get("directories", [])
    _plan_stub_removal(planned)
    return planned


def _plan_stub_removal(planned: PlannedSetup) -> None:
    """The last client that calls the stub takes it along; git's own hooks do not call it."""
    clone = planned.clone
    stub = clone.files.read(clone.stub)
    if stub is not None and not [name for name in clone.installed() if name not in (planned.name, "git")]:
        planned.changes.append(SetupChange(clone.stub, stub, None))


def _asked(make: Callable[[SetupFacts], SetupPlan], facts: SetupFacts) -> SetupPlan:
    try:
        return make(facts)
    except CannotSetUp as error:
        raise refuse("setup.unusable", path=error.path, why=error.why) from None
