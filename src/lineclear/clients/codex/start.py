"""Starts Codex CLI: `codex exec --json` in its sandbox."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.clients.launch import EDIT, FULL, WorkerCommand, option

if TYPE_CHECKING:
    from lineclear.clients.launch import Launch


# A login shell would replace the PATH and other variables that the supervisor has set.
_OUR_SHELL = ("--config", "allow_login_shell=false")


def launch(asked: Launch) -> WorkerCommand:
    """Options come before `resume`, which does not know all of them; `-` reads the prompt from the input."""
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
    """The shared git directory, to which commits and `lineclear` commands write, and the worktree's part of
    it.

    That part must be named, too: Codex (0.166) follows the worktree's `.git` file and makes its target
    read-only unless exactly that is a root.
    """
    own = asked.git_dir or (asked.common_dir and f"{asked.common_dir}/worktrees/{_last(asked.worktree)}")
    return option("--add-dir", asked.common_dir) + option("--add-dir", own)


def _last(path: str) -> str:
    """Git's usual name for a worktree. If git chose another one, a missing root does no harm."""
    return path.rstrip("/").rpartition("/")[2]
