"""Git's merge driver and mergetool: settings of the repository, shared by its worktrees, without any file.

Git takes every exit code from 1 to 128 for a conflict whose text the driver has written. A driver that
cannot start (127, or 1 from a Python without lineclear) would leave the left side without marks, and the
next `git commit -a` would drop the right one. So the driver is a line of shell: our program writes to a file
of its own, and where that file does not come, git's own merge writes the text and the marks.
"""

from __future__ import annotations

import shlex

from lineclear.app.setup.plan import SetupFacts, SetupPlan
from lineclear.clients.templating import fill
from lineclear.core.words.refusals import refuse

IN_WORKTREES = False
NAME = "lineclear"
GIT_SETTINGS = (
    "merge.lineclear.name",
    "merge.lineclear.driver",
    "mergetool.lineclear.cmd",
    "mergetool.lineclear.trustExitCode",
    # Applies to paths without a merge attribute; .gitattributes still takes precedence.
    "merge.default",
)


def config_for(python: str) -> dict[str, str]:
    """What git's settings say, with the interpreter that has lineclear: an IDE or a hook has another PATH."""
    quoted = shlex.quote(python)
    said = (
        "lineclear: merges what is safe and explains conflicts",
        # Git replaces `%` and a letter in this one.
        fill("git_merge/driver.sh", PYTHON=quoted.replace("%", "%%")).strip(),
        fill("git_merge/mergetool.sh", PYTHON=quoted).strip(),
        "true",
        NAME,
    )
    return dict(zip(GIT_SETTINGS, said, strict=True))


def files(_facts: SetupFacts) -> list[str]:
    return []


def plan_install(facts: SetupFacts) -> SetupPlan:
    current = facts.git_settings
    if current["merge.default"] not in ("", NAME):
        raise refuse(
            "input.bad",
            name="merge.default",
            given=current["merge.default"],
            why="another driver is installed",
        )
    wanted = config_for(facts.python)
    return SetupPlan(git_settings={key: said for key, said in wanted.items() if current[key] != said})


def plan_remove(facts: SetupFacts) -> SetupPlan:
    """Keep a default that names another driver: it is the user's."""
    current = facts.git_settings
    is_ours = current["merge.default"] == NAME
    ours = [key for key in GIT_SETTINGS if current[key] and (key != "merge.default" or is_ours)]
    # The default first: killed in between, git merges by itself again.
    return SetupPlan(git_settings=dict.fromkeys(reversed(ours), ""))
