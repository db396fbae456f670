"""Trust in a repository's committed settings, put together."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lineclear.app.agents.trust import Trust
from lineclear.app.ports import Caller
from lineclear.core.trust import RECORD
from lineclear.git.layout import find_layout
from lineclear.host.host_names import person_name
from lineclear.host.private_record import RecordFile
from lineclear.settings.trust_list import commands_of
from lineclear.wiring.repo import open_repo, read_settings, state_directory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lineclear.git.layout import Layout
    from lineclear.settings import Settings
    from lineclear.wiring.repo import Repo


def trust_of(repo: Repo) -> Trust:
    return trust_at(repo.layout, repo.settings)


def trust_at(layout: Layout, settings: Settings) -> Trust:
    """Where no store is open: the settings may name one that nobody trusts yet."""
    return Trust(commands_of(settings), RecordFile(os.path.join(state_directory(layout), RECORD)))


class TrustClone:
    """A clone whose settings a person reviews. Opens the store only to recognise the caller, and never one
    that is not trusted yet."""

    def __init__(self, cwd: str, environ: Mapping[str, str], given: str) -> None:
        self.layout = find_layout(cwd, environ)
        self.settings = read_settings(self.layout, environ, given=given)
        self.layout.landing = self.settings.queue_branch
        self.trust = trust_at(self.layout, self.settings)
        self._cwd, self._environ, self._given = cwd, environ, given

    def caller(self) -> Caller:
        if "store.url" in self.settings.held:
            if self.settings.for_agent:
                return Caller(self._given or "agent")
            return Caller(person_name(self.settings.agents_person, self._environ), is_person=True)
        repo = open_repo(self._cwd, self._environ)
        try:
            return repo.caller(self._given)
        finally:
            repo.close()
