"""Install ourselves as git's merge driver and mergetool in one repository, and take that away again."""

from __future__ import annotations

from lineclear.core import refusals
from lineclear.git.layout import find_layout
from lineclear.git.run import git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

CONFIG = {
    "merge.lineclear.name": "lineclear: what is safe, else named conflicts",
    "merge.lineclear.driver": "lineclear merge-file %O %A %B --path %P -o %A",
    "mergetool.lineclear.cmd": (
        'lineclear merge-file "$BASE" "$LOCAL" "$REMOTE" --path "$MERGED" -o "$MERGED"'
    ),
    "mergetool.lineclear.trustExitCode": "true",
    # For paths without a merge attribute: what .gitattributes says about a file stays in force.
    "merge.default": "lineclear",
}


def change_driver(cwd: str, environ: Mapping[str, str], *, remove: bool, dry_run: bool) -> list[str]:
    """What is (or would be) changed, in words. Settings of this repository only, shared by its worktrees."""
    layout = find_layout(cwd, environ)
    wanted = {key: "" if remove else value for key, value in CONFIG.items()}
    current = {key: _get(key, layout.worktree) for key in CONFIG}
    if current["merge.default"] not in ("", CONFIG["merge.default"]):
        if not remove:
            raise refusals.bad_value("merge.default", current["merge.default"], "another driver is installed")
        del wanted["merge.default"]
    steps = []
    for key, value in wanted.items():
        if current[key] == value:
            continue
        words = [key, value] if value else ["--unset", key]
        steps.append(f"git config {' '.join(words)}")
        if not dry_run:
            git(["config", "--local", *words], layout.worktree)
    return steps


def _get(key: str, cwd: str) -> str:
    return git(["config", "--local", "--get", key], cwd, check=False).decode().rstrip("\n")
