"""The rules for agents, each written once: the hook's welcome, the MCP server's instructions, the first
prompt of a run, the block in AGENTS.md and the plugin's skill quote them.

An agent may read several of these, so they must not differ. On the hook's path: cheap to import.
"""

from __future__ import annotations

# How to change files. Both places are named, so that a text that does not know the place can quote both.
IN_OWN_WORKTREE = "In your own worktree, edit freely: a claim there tells others and stops nobody."
IN_SHARED_TREE = (
    "In a tree that you share with others, one agent at a time changes a file: an edit is refused while "
    "another agent holds it."
)
# What a hook does for every edit, and what to do without one.
HOOKS_CLAIM = "lineclear's hooks claim each file that you edit; you need not do it yourself."
CLAIM_WITHOUT_HOOKS = (
    "Unless lineclear's hooks do it for you, claim a file before you change it: `lineclear claim PATH`."
)
RARELY_EXCLUSIVE = (
    "Ask for `exclusive` mode only if nobody else may change it meanwhile, and release it soon afterwards."
)
WHEN_REFUSED = "When something is refused, do what its `Next:` line says. Do not work around it."


def editing_rules(*, is_shared: bool | None = None) -> tuple[str, ...]:
    """How to change files, for a reader that may have hooks or not. `is_shared`: None if its tree is not
    known."""
    own = () if is_shared else (IN_OWN_WORKTREE,)
    shared = () if is_shared is False else (IN_SHARED_TREE,)
    return (*own, *shared, CLAIM_WITHOUT_HOOKS, RARELY_EXCLUSIVE)
