"""Builds the ports of check trees, which agents' worktrees keep clear of."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lineclear.app.worktrees.rows import ports_of_agents
from lineclear.host.check_ports import CheckPorts

if TYPE_CHECKING:
    from lineclear.wiring.repo import Repo

_PORTS = "checks/ports"


def check_ports(repo: Repo) -> CheckPorts:
    settings = repo.settings
    return CheckPorts(
        os.path.join(repo.state_directory, _PORTS),
        count=settings.worktrees_ports,
        low=settings.worktrees_ports_from,
        high=settings.worktrees_ports_to,
        of_agents=lambda: ports_of_agents(repo.store),
    )
