"""`setup git`, wired: where git's hooks lie, and the gate before them."""

from __future__ import annotations

import os
import shlex
import sys

from lineclear.app.setup.plan import FORMAT, Change
from lineclear.clients import apply_plan as files
from lineclear.clients.git import setup as git_gate
from lineclear.clients.templating import fill
from lineclear.git.gate import hooks_path, set_hooks_path
from lineclear.git.landing import landing_ref
from lineclear.git.layout import find_layout
from lineclear.wiring.setup import Planned, Site, carry_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

NAME, GATE, CHAIN = "git", "gate", "git-hooks"


class PlannedHooks(Planned):
    """`path`: what core.hooksPath is to be set to; None leaves it as it is."""

    __slots__ = ("path",)

    def __init__(self, site: Site) -> None:
        super().__init__(site, NAME)
        self.path: str | None = None

    def steps(self) -> list[str]:
        lines = super().steps()
        if self.path is not None:
            words = f"core.hooksPath {shlex.quote(self.path)}" if self.path else "--unset core.hooksPath"
            lines.append(f"git config {words}")
        return lines


def plan_install(cwd: str, environ: Mapping[str, str]) -> PlannedHooks:
    layout = find_layout(cwd, environ)
    site = Site(layout, environ)
    planned, old = PlannedHooks(site), site.record(NAME)
    main, chain = shlex.quote(landing_ref(layout)), f"{site.state}/{CHAIN}"
    own, counts = hooks_path(site.root)
    if counts and counts != chain:
        plan = git_gate.plan_before(chain, _contents(chain), main, own, _quoted(counts))
        planned.path = chain
    elif counts == chain and old.get("way") == "before":
        plan = git_gate.plan_before(chain, _contents(chain), main, old["former"], old["quoted"])
    else:
        directory = f"{site.common_dir}/hooks"
        looked = {path: files.read(path) for path in git_gate.looked_at(directory)}
        plan = git_gate.plan_beside(directory, looked, main, old)
    planned.take(plan)
    planned.record = {"format": FORMAT, "client": NAME, **plan.record}
    if plan.record["way"] == "before":
        planned.record["quoted"] = old.get("quoted", "") if counts == chain else _quoted(counts)
    _plan_gate(planned)
    return planned


def _quoted(directory: str) -> str:
    return shlex.quote(directory.rstrip("/"))


def _contents(directory: str) -> dict[str, bytes | None]:
    names = (*git_gate.GUARDED, *git_gate.OTHERS)
    return {f"{directory}/{name}": files.read(f"{directory}/{name}") for name in names}


def _plan_gate(planned: PlannedHooks) -> None:
    path = f"{planned.site.state}/{GATE}"
    # Closed: whatever is not a clear yes stops git.
    stops = "[!0]*" if planned.site.is_closed else "3 | 4 | 7"
    text = fill("git/gate.sh", PYTHON=shlex.quote(sys.executable), STOPS=stops).encode()
    before = files.read(path)
    if before != text:
        planned.changes.append(Change(path, before, text, is_program=True))


def plan_remove(cwd: str, environ: Mapping[str, str]) -> PlannedHooks:
    site = Site(find_layout(cwd, environ), environ)
    planned, old = PlannedHooks(site), site.record(NAME)
    directory = old.get("directory", f"{site.common_dir}/hooks")
    if old.get("way") == "before":
        planned.take(git_gate.plan_before_remove(directory, _contents(directory)))
        own, _ = hooks_path(site.root)
        if own == directory:
            planned.path = old["former"]
        planned.directories = [directory]
    elif old:
        looked = {path: files.read(path) for path in git_gate.looked_at(directory)}
        planned.take(git_gate.plan_beside_remove(looked, old))
    gate = f"{site.state}/{GATE}"
    if os.path.exists(gate):
        planned.changes.append(Change(gate, files.read(gate), None))
    return planned


def carry_out_hooks(planned: PlannedHooks) -> None:
    """Out: first git looks elsewhere, then the files go. In: the other way round."""
    if planned.path is not None and planned.record is None:
        set_hooks_path(planned.site.root, planned.path)
    carry_out(planned)
    if planned.path is not None and planned.record is not None:
        set_hooks_path(planned.site.root, planned.path)
