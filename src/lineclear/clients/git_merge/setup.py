"""Git's merge driver and mergetool: settings of the repository, shared by its worktrees, without any file."""

from __future__ import annotations

from lineclear.app.setup.plan import SetupFacts, SetupPlan
from lineclear.core.words.refusals import refuse

IN_WORKTREES = False
CONFIG = {
    "merge.lineclear.name": "lineclear: merges what is safe and explains conflicts",
    "merge.lineclear.driver": "lineclear merge-file %O %A %B --path %P -o %A",
    "mergetool.lineclear.cmd": (
        'lineclear merge-file "$BASE" "$LOCAL" "$REMOTE" --path "$MERGED" -o "$MERGED"'
    ),
    "mergetool.lineclear.trustExitCode": "true",
    # Applies to paths without a merge attribute; .gitattributes still takes precedence.
    "merge.default": "lineclear",
}
GIT_SETTINGS = tuple(CONFIG)


def files(_facts: SetupFacts) -> list[str]:
    return []


def plan_install(facts: SetupFacts) -> SetupPlan:
    current = facts.git_settings
    if current["merge.default"] not in ("", CONFIG["merge.default"]):
        raise refuse(
            "input.bad",
            name="merge.default",
            given=current["merge.default"],
            why="another driver is installed",
        )
    return SetupPlan(git_settings={key: said for key, said in CONFIG.items() if current[key] != said})


def plan_remove(facts: SetupFacts) -> SetupPlan:
    """Keep a default that names another driver: it is the user's."""
    current = facts.git_settings
    is_ours = current["merge.default"] == CONFIG["merge.default"]
    ours = [key for key in CONFIG if current[key] and (key != "merge.default" or is_ours)]
    return SetupPlan(git_settings=dict.fromkeys(ours, ""))
