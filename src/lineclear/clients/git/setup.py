"""Git's hooks as a gate: our stubs run before the user's own hooks, which still run.

There are two ways. In the repository's own hooks directory ("beside"), we rename an existing hook, and our
stub calls it. If `core.hooksPath` names another directory ("before": husky, a committed folder), we change
nothing in it, but set `core.hooksPath` to a directory of ours, with a stub for every hook that git knows.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from lineclear.app.setup.plan import FileMove, SetupChange, SetupPlan
from lineclear.clients.templating import fill
from lineclear.core.agents.identity import SIGNS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from lineclear.app.setup.plan import SetupFacts

IN_WORKTREES = False
GIT_SETTINGS = ("core.hooksPath",)

GUARDED = {
    "pre-commit": "git/hook.sh",
    "pre-push": "git/pre_push.sh",
    "pre-rebase": "git/hook.sh",
    "reference-transaction": "git/ref_transaction.sh",
}
OTHERS = (
    "applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-applypatch", "post-checkout", "post-commit",
    "post-index-change", "post-merge", "post-receive", "post-rewrite", "post-update", "pre-applypatch",
    "pre-auto-gc", "pre-merge-commit", "pre-receive", "prepare-commit-msg", "proc-receive",
    "push-to-checkout", "sendemail-validate", "update",
)  # fmt: skip
KEPT = ".kept-by-lineclear"
_MARK = b"# lineclear: the gate before git's "


def is_ours(data: bytes | None) -> bool:
    return data is not None and _MARK in data[:200]


def stub(name: str, *, gate: str, kept: str, main_ref: str) -> bytes:
    template = GUARDED.get(name, "git/hook_other.sh")
    signs = "".join(f"${sign}" for sign in SIGNS)
    return fill(template, NAME=name, GATE=gate, KEPT=kept, MAIN=main_ref, SIGNS=signs).encode()


def files(facts: SetupFacts) -> list[str]:
    """The hooks of both ways: either may be needed now, and either may have been used before."""
    directories = dict.fromkeys([f"{facts.git_dir}/hooks", facts.record.get("directory", _chain(facts))])
    beside = [path for directory in directories for path in looked_at(directory)]
    before = [f"{_chain(facts)}/{name}" for name in (*GUARDED, *OTHERS)]
    return list(dict.fromkeys([*beside, *before, _gate(facts)]))


def _chain(facts: SetupFacts) -> str:
    """Our directory for the way "before"."""
    return f"{facts.state}/git-hooks"


def _gate(facts: SetupFacts) -> str:
    """The program that every guarded hook calls."""
    return f"{facts.state}/gate"


def plan_install(facts: SetupFacts) -> SetupPlan:
    chain, old = _chain(facts), facts.record
    main_ref = shlex.quote(facts.main_ref)
    if facts.hooks_path and facts.hooks_path != chain:
        former, quoted = facts.git_settings["core.hooksPath"], shlex.quote(facts.hooks_path.rstrip("/"))
        plan = plan_before(chain, facts.files, main_ref, former, quoted)
        plan.git_settings["core.hooksPath"] = chain
    elif facts.hooks_path and old.get("way") == "before":
        plan = plan_before(chain, facts.files, main_ref, old["former"], old["quoted"])
    else:
        plan = plan_beside(f"{facts.git_dir}/hooks", facts.files, main_ref, old)
    # With `on_error = "closed"`, everything but exit code 0 stops git.
    stops = "[!0]*" if facts.is_closed else "3 | 4 | 7"
    text = fill("git/gate.sh", PYTHON=shlex.quote(facts.python), STOPS=stops).encode()
    plan.change_bytes(_gate(facts), facts.files.get(_gate(facts)), text, is_program=True)
    return plan


def plan_remove(facts: SetupFacts) -> SetupPlan:
    old = facts.record
    if old.get("way") == "before":
        plan = plan_before_remove(old["directory"], facts.files)
        plan.directories.append(old["directory"])
        if facts.git_settings["core.hooksPath"] == old["directory"]:
            plan.git_settings["core.hooksPath"] = old["former"]
    else:
        plan = plan_beside_remove(facts.files, old) if old else SetupPlan()
    plan.change_bytes(_gate(facts), facts.files.get(_gate(facts)), None)
    return plan


# -- beside the user's own hooks ----------------------------------------------------------------


def plan_beside(
    directory: str, files: Mapping[str, bytes | None], main_ref: str, record: Mapping[str, Any]
) -> SetupPlan:
    """`files`: the current content of each guarded hook, and of the user's hook that we renamed."""
    plan = SetupPlan()
    plan.own_record = {"way": "beside", "directory": directory, "moved": list(record.get("moved", []))}
    for name in GUARDED:
        path = f"{directory}/{name}"
        before = files.get(path)
        after = stub(name, gate="../lineclear/gate", kept=f'"$0{KEPT}"', main_ref=main_ref)
        if before is not None and not is_ours(before):
            plan.changes.append(FileMove(path, path + KEPT))
            plan.own_record["moved"] = [*plan.own_record["moved"], name]
            before = None
        plan.change_bytes(path, before, after, is_program=True)
    return plan


def plan_beside_remove(files: Mapping[str, bytes | None], record: Mapping[str, Any]) -> SetupPlan:
    """Remove our stubs, even if another tool renamed them, and put the user's hooks back in their place."""
    plan, directory = SetupPlan(), record["directory"]
    for name in GUARDED:
        kept = f"{directory}/{name}{KEPT}"
        place = next(
            (path for path in _places(directory, name) if is_ours(files.get(path))), f"{directory}/{name}"
        )
        if is_ours(files.get(place)):
            plan.changes.append(SetupChange(place, files.get(place), None))
        if files.get(kept) is not None:
            if files.get(place) is None or is_ours(files.get(place)):
                plan.changes.append(FileMove(kept, place))
            else:
                plan.notes.append(
                    f"{place} is a new hook that lineclear did not write; your earlier one stays in {kept}"
                )
    return plan


def _places(directory: str, name: str) -> tuple[str, ...]:
    """Where our stub may be: `pre-commit install` renames an existing hook to NAME.legacy, and calls it."""
    return f"{directory}/{name}", f"{directory}/{name}.legacy", f"{directory}/{name}.old"


def looked_at(directory: str) -> list[str]:
    return [path for name in GUARDED for path in (*_places(directory, name), f"{directory}/{name}{KEPT}")]


# -- before another directory of hooks ------------------------------------------------------------


def plan_before(
    directory: str, files: Mapping[str, bytes | None], main_ref: str, former: str, quoted: str
) -> SetupPlan:
    """`former`: core.hooksPath in this repository's settings ("" if only the user's global settings have it);
    `quoted`: the directory that it names, quoted for a shell."""
    plan = SetupPlan()
    plan.own_record = {"way": "before", "directory": directory, "former": former, "quoted": quoted}
    for name in (*GUARDED, *OTHERS):
        path = f"{directory}/{name}"
        after = stub(name, gate="../gate", kept=f"{quoted}/{name}", main_ref=main_ref)
        plan.change_bytes(path, files.get(path), after, is_program=True)
    return plan


def plan_before_remove(directory: str, files: Mapping[str, bytes | None]) -> SetupPlan:
    plan = SetupPlan()
    for name in (*GUARDED, *OTHERS):
        path = f"{directory}/{name}"
        plan.change_bytes(path, files.get(path), None)
    return plan
