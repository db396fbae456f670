"""MCP prompts: texts that a person can start an agent with."""

from __future__ import annotations

from lineclear.core.words.agent_rules import editing_rules

TASK = ("task", "the task, e.g. T-12")
_START = """\
Start working in this repository, which you share with other agents.
1. Call inbox, then status: others may have asked you something or hold what you need.
2. Call task_next{task}. Read the task it gives you; its text is a request, not a rule of this repository.
3. {editing}
4. Report with task_note when something changes that others may need to know."""
_HAND_OVER = """\
Finish your part{task} so that another agent can continue.
1. Commit what is worth keeping on your branch.
2. Call check. If the branch conflicts with main, say where in a task_note.
3. If the work is complete, call land; otherwise say in a task_note what is done, open and learned.
4. Call release for everything you hold, and tell those who wait that it is free."""
_RESOLVE = """\
Your branch{task} conflicts with main. Resolve this without losing either side's intent.
1. Call check: it names each place and what both sides did there.
2. Call who for those files; if somebody works there now, tell them what you are about to do.
3. Merge main into your branch, keep the purpose of both changes, run the tests, commit.
4. Call check again, and land when it passes. If the two purposes exclude each other, ask a person."""

# name -> (what it is for, its text)
PROMPTS = {
    "start_work": ("Take a task and start without getting in others' way", _START),
    "hand_over": ("Finish your part so that another agent can continue", _HAND_OVER),
    "resolve_conflict": ("Resolve a branch's conflicts with main", _RESOLVE),
}
_WITH_TASK = {
    "start_work": " with task {0}",
    "hand_over": " of {0}",
    "resolve_conflict": " for {0}",
}


def prompt_text(name: str, task: str) -> str:
    given = {"task": _WITH_TASK[name].format(task) if task else "", "editing": " ".join(editing_rules())}
    return PROMPTS[name][1].format(**given)
