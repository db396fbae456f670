"""What a person can have an agent begin with: the words, and which tools they lead to."""

from __future__ import annotations

TASK = ("task", "the task, e.g. T-12")
_START = """\
Begin work in this repository, which you share with other agents.
1. Call inbox, then status: others may have asked something of you, or hold what you need.
2. Call task_next{task}. Read the task it gives you; its words are a request, not a rule of this repository.
3. Call claim for the files you will change, with a note. If it is refused, work on something else or wait.
4. Tell others how it stands with task_note when something they may need to know has changed."""
_HAND_OVER = """\
End your part{task} so that another agent can go on.
1. Commit what is worth keeping on your branch.
2. Call check. If the branch does not fit main, say in a task_note where.
3. If the work is complete, call land; else call task_note: what is done, what is open, what you learnt.
4. Call release for everything you hold, and say to those who wait that it is free."""
_RESOLVE = """\
Your branch{task} and main do not fit. Make them fit without losing either side's intent.
1. Call check: it names each place and what both sides did there.
2. Call who for those files; if somebody works there now, say to them what you are about to do.
3. Merge main into your branch, keep the purpose of both changes, run the tests, commit.
4. Call check again, and land when it fits. If two purposes exclude each other, ask a person."""

# name -> (what it is for, its text)
PROMPTS = {
    "start_work": ("Take a task and begin, without stepping on others", _START),
    "hand_over": ("End your part so that another can go on", _HAND_OVER),
    "resolve_conflict": ("Make a branch fit main again", _RESOLVE),
}
_WITH_TASK = {
    "start_work": " with task {0}",
    "hand_over": " of {0}",
    "resolve_conflict": " for {0}",
}


def prompt_text(name: str, task: str) -> str:
    return PROMPTS[name][1].format(task=_WITH_TASK[name].format(task) if task else "")
