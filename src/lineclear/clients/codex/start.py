"""How Codex CLI is started: `codex exec --json` in its sandbox."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.clients.launch import EDIT, FULL, WorkerCommand, option

if TYPE_CHECKING:
    from lineclear.clients.launch import Launch


# A login shell would forget the PATH and the variables that the supervisor has set.
_OUR_SHELL = ("--config", "allow_login_shell=false")


def launch(asked: Launch) -> WorkerCommand:
    """Options stand before `resume`, which does not know all of them; `-` reads the prompt from the input."""
    argv = [*asked.command, "exec", "--json", *_permissions(asked)]
    argv += option("--model", asked.model)
    if asked.resume_session:
        argv += ["resume", asked.resume_session]
    return WorkerCommand([*argv, "-"])


def _permissions(asked: Launch) -> list[str]:
    if asked.permissions == FULL:
        return ["--dangerously-bypass-approvals-and-sandbox", *_OUR_SHELL]
    if asked.permissions != EDIT:
        return []
    no_questions = ["--config", 'approval_policy="never"']
    return ["--sandbox", "workspace-write", *no_questions, *_OUR_SHELL, *_writable_roots(asked)]


def _writable_roots(asked: Launch) -> list[str]:
    """A commit in a linked worktree, and every `lineclear` command, writes to the shared git directory.

    The worktree's own part of it has to be named as well: Codex (0.166) follows the `.git` file of the
    worktree and makes what it points to read-only, unless exactly that is a root.
    """
    own = asked.git_dir or (asked.common_dir and f"{asked.common_dir}/worktrees/{_last(asked.worktree)}")
    return option("--add-dir", asked.common_dir) + option("--add-dir", own)


def _last(path: str) -> str:
    """The name that git gives to a worktree, unless that was taken. A root that is not there does no harm."""
    return path.rstrip("/").rpartition("/")[2]
