"""Trust in a repository's committed settings, put together."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lineclear.app.agents.trust import Trust
from lineclear.host.private_record import RecordFile
from lineclear.settings.trust_list import commands_of

if TYPE_CHECKING:
    from lineclear.wiring.repo import Repo

RECORD = "trusted"


def trust_of(repo: Repo) -> Trust:
    return Trust(commands_of(repo.settings), RecordFile(os.path.join(repo.state_directory, RECORD)))
