"""One clone, as set-up sees it: where things are, what an earlier set-up has put in, what there is now."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lineclear.app.setup.plan import FORMAT, SetupFacts
from lineclear.core.words.refusals import refuse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from lineclear.app.setup.ports import SetupClients, SetupFiles, SetupGit, SetupModule

RECORDS = "setup"
STUB = "hook"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupClone:
    """`root`: the main worktree, where the settings of the project lie. `roots`: all worktrees.
    `state`: our directory in the git directory that they share. `python`: what our programs run in."""

    root: str
    roots: Sequence[str]
    common_dir: str
    state: str
    home: str
    variables: Mapping[str, str]
    is_closed: bool
    python: str
    git: SetupGit
    files: SetupFiles
    clients: SetupClients

    @property
    def stub(self) -> str:
        return f"{self.state}/{STUB}"

    @property
    def exclude_file(self) -> str:
        """Git's own list of what to ignore in this clone alone."""
        return f"{self.common_dir}/info/exclude"

    def record_path(self, name: str) -> str:
        return f"{self.state}/{RECORDS}/{name}.json"

    def record(self, name: str) -> dict[str, Any]:
        """What an earlier set-up wrote down; {} when there is none, or none that can be read."""
        data = self.files.read(self.record_path(name))
        try:
            found = json.loads(data) if data else {}
        except ValueError:
            return {}
        return found if isinstance(found, dict) and found.get("format") == FORMAT else {}

    def installed(self) -> list[str]:
        """Every client that was set up here, also one that only another release knows."""
        names = self.files.names_in(f"{self.state}/{RECORDS}")
        return [name.removesuffix(".json") for name in names if name.endswith(".json")]

    def installed_clients(self) -> list[str]:
        """Those of them that this release knows."""
        known = self.clients.names()
        return [name for name in self.installed() if name in known]

    def worktrees_for(self, module: SetupModule) -> list[str]:
        """Those in which the client needs files, the main one first."""
        others = [path for path in self.roots if path != self.root] if module.IN_WORKTREES else []
        return [self.root, *others]

    def facts(self, module: SetupModule, root: str, record: Mapping[str, Any]) -> SetupFacts:
        """What the client's plans need to know about one worktree."""
        bare = self._bare_facts(root, record)
        facts = self._with_files(bare, module.files(bare))
        names = getattr(module, "GIT_SETTINGS", ())
        if not names:
            return facts
        return replace(
            facts,
            git_settings={name: self.git.setting(name) for name in names},
            hooks_path=self.git.hooks_path(),
            main_ref=self.git.main_ref(),
            python=self.python,
        )

    def facts_of_exclude_file(self, record: Mapping[str, Any]) -> SetupFacts:
        return self._with_files(self._bare_facts(self.root, record), [self.exclude_file])

    def _bare_facts(self, root: str, record: Mapping[str, Any]) -> SetupFacts:
        return SetupFacts(
            root,
            home=self.home,
            stub=self.stub,
            record=record,
            variables=self.variables,
            is_closed=self.is_closed,
            is_main=root == self.root,
        )

    def _with_files(self, facts: SetupFacts, paths: Sequence[str]) -> SetupFacts:
        # A tracked file that a worktree lacks comes with a merge: it is not ours to make there, and what
        # a branch makes of it is no reason to refuse.
        shared = frozenset(self.git.tracked(facts.root, paths))
        left_alone = frozenset() if facts.is_main else shared
        files = {path: None if path in left_alone else self._read(path) for path in paths}
        return replace(facts, shared=shared, files=files)

    def _read(self, path: str) -> bytes | None:
        try:
            return self.files.read(path)
        except OSError as error:
            raise refuse("setup.unusable", path=path, why=error.strerror or str(error)) from None
