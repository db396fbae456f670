"""Every verb: its module, its group in the help, and its summary.

A plain table, so that help and completion load no command module.
"""

from __future__ import annotations

# verb -> (module in cli/commands, group, summary)
INDEX: dict[str, tuple[str, str, str]] = {
    "status": ("status", "LOOK", "Show what needs you, agents, claims and tasks (also without a verb)"),
    "init": ("start", "START", "Put this repository under coordination"),
    "doctor": ("start", "START", "Check store, git and settings; --fix repairs what is safe"),
    "trust": ("trust", "START", "Trust the commands in the committed lineclear.toml, after showing them"),
    "config show": ("start", "START", "Show the settings and where each one comes from"),
    "uninstall": ("uninstall", "START", "Remove everything that lineclear put here; unmerged work is kept"),
    "demo": ("demo", "START", "Watch four agents build a shop, without and with lineclear"),
    "task add": ("tasks", "WORK", "Add a task; likely duplicates are shown"),
    "task import": ("task_lists", "WORK", "Add a whole list: a Markdown checklist or JSON"),
    "task list": ("tasks", "WORK", "List tasks by state"),
    "task ready": ("tasks", "WORK", "List tasks that can be taken now"),
    "task next": ("tasks", "WORK", "Take a task: the named one, or the next that fits you"),
    "task show": ("tasks", "WORK", "Show a task with its notes and history"),
    "task edit": ("tasks", "WORK", "Change a task's text, priority, scope or dependencies"),
    "task note": ("tasks", "WORK", "Add a status update to a task"),
    "task done": ("tasks", "WORK", "End a task; --branch hands its work over"),
    "task fail": ("tasks", "WORK", "Give up a task with a reason"),
    "task cancel": ("tasks", "WORK", "End a task that is no longer wanted"),
    "task reopen": ("tasks", "WORK", "Reopen a failed or cancelled task"),
    "task same": ("tasks", "WORK", "Record that a task is the same work as another"),
    "task export": ("task_lists", "WORK", "Write all tasks as Markdown or JSON"),
    "claim": ("claims", "WORK", "Hold resources: files, directories, globs, symbols, rows, ports and more"),
    "release": ("claims", "WORK", "Release what you hold"),
    "who": ("claims", "WORK", "Explain a resource: strategy, holders, waiters, last writers"),
    "with": ("claims", "WORK", "Hold resources around a command and stop it when they are lost"),
    "value get": ("values", "WORK", "Read a shared value and its version"),
    "value put": ("values", "WORK", "Write a shared value; a stale version is refused"),
    "value delete": ("values", "WORK", "Delete a shared value"),
    "value list": ("values", "WORK", "List shared values and copies"),
    "value history": ("values", "WORK", "Show the versions of a value, newest first"),
    "value fork": ("values", "WORK", "Create an isolated copy of values"),
    "value merge": ("values", "WORK", "Merge a copy back; conflicts are named by JSON pointer"),
    "value drop": ("values", "WORK", "Drop a copy"),
    "propose": ("proposals", "WORK", "Ask the owner of a single-writer resource for a change"),
    "proposal list": ("proposals", "WORK", "List proposals"),
    "proposal show": ("proposals", "WORK", "Show a proposal"),
    "proposal accept": ("proposals", "WORK", "Accept a proposal: the oldest open one of its resource"),
    "proposal reject": ("proposals", "WORK", "Reject a proposal with a reason"),
    "phase": ("phase", "WORK", "Show the phase, or start one: parallel, integrate, test"),
    "say": ("messages", "WORK", "Send a message to an agent, a topic or everyone"),
    "inbox": ("messages", "WORK", "Read what was sent to you, urgent first"),
    "topic": ("messages", "WORK", "Listen to a topic, or stop listening"),
    "merge-file": ("merge", "WORK", "Merge one file three ways: safe changes, else named conflicts"),
    "merge-tree": ("merge", "WORK", "Merge two trees without a work tree and print the tree's id"),
    "migration next": ("migration", "WORK", "Reserve the next migration's number before you write it"),
    "worktree add": ("worktrees", "RUN", "Create a worktree with its branch, ports and ignored files"),
    "worktree list": ("worktrees", "RUN", "List worktrees: agent, task, branch, changes"),
    "worktree adopt": ("worktrees", "RUN", "Take over a worktree that you or a client made"),
    "worktree remove": ("worktrees", "RUN", "Remove a worktree; uncommitted work is snapshotted first"),
    "run": ("run", "RUN", "Keep agents working on the ready tasks, each in its own worktree"),
    "attach": ("run", "RUN", "Follow what a running agent does"),
    "stop": ("run", "RUN", "Stop a running agent; its work is kept"),
    "pause": ("run", "RUN", "Pause a running agent"),
    "resume": ("run", "RUN", "Resume a paused agent"),
    "sync": ("sync", "RUN", "Bring your branch up to date with main, or show where they conflict"),
    "check": ("land", "LAND", "Check whether a branch merges into main; --run also runs the checks"),
    "land": ("land", "LAND", "Hand a branch to the queue; without checks it lands at once"),
    "queue list": ("queue", "LAND", "List candidates in landing order; --all also lists ended ones"),
    "queue show": ("queue", "LAND", "Explain a candidate: every decision, the failing output, its diff"),
    "queue checks": ("queue", "LAND", "Show each check: its runs, failures, and passes on a later try"),
    "queue run": ("queue", "LAND", "Check and land candidates; --once stops when nothing is left to do"),
    "queue approve": ("queue", "LAND", "Approve a candidate in its current state"),
    "queue reject": ("queue", "LAND", "Send a candidate back to its author"),
    "queue hold": ("queue", "LAND", "Hold a candidate"),
    "queue move": ("queue", "LAND", "Put a candidate before another one, first or last"),
    "queue drop": ("queue", "LAND", "Take a candidate out of the queue; its branch stays"),
    "queue retry": ("queue", "LAND", "Retry a candidate that is held or needs you"),
    "queue pause": ("queue", "LAND", "Pause the queue; nothing lands until it is resumed"),
    "queue resume": ("queue", "LAND", "Resume the queue"),
    "undo": ("land", "LAND", "Undo a landing with a commit that lands like any other"),
    "diff": ("diff", "RUN", "Show an agent's work: committed, changed and new files, against main"),
    "open": ("diff", "RUN", "Open a shell or your editor in an agent's worktree"),
    "salvage list": ("salvage", "RUN", "List snapshots of agents' worktrees"),
    "salvage show": ("salvage", "RUN", "Show the content of a snapshot"),
    "salvage restore": ("salvage", "RUN", "Restore a snapshot as a branch or a patch"),
    "salvage take": ("salvage", "RUN", "Take a snapshot now, of your worktree or an agent's"),
    "salvage beside": ("salvage", "", "Save the worktree, then run the radar (called by hooks)"),
    "gc": ("gc", "RUN", "Show what can be cleaned up; --apply removes it"),
    "agent list": ("agents", "LOOK", "List all agents and people ever seen here"),
    "agent leave": ("agents", "WORK", "End an agent's presence and free what it holds"),
    "log": ("log", "LOOK", "Show the log; -f follows it, --before orders two events"),
    "audit": ("log", "LOOK", "Replay the log through the rules and compare it with the tables"),
    "token add": ("tokens", "WIRE", "Create a token that proves an agent's or a person's name; shown once"),
    "token list": ("tokens", "WIRE", "List tokens: owner, age, expiry; never the secret"),
    "token revoke": ("tokens", "WIRE", "Revoke a token, or all tokens of a name"),
    "db info": ("db", "WIRE", "Show the store: engine, versions, size"),
    "db backup": ("db", "WIRE", "Write a consistent copy of the store to a file"),
    "db verify": ("db", "WIRE", "Check the store for damage"),
    "db copy": ("db", "WIRE", "Copy the store to another engine by replaying its log"),
    "setup": ("setup", "WIRE", "Install, check or remove lineclear's hooks in a client's settings"),
    "setup git-merge": ("merge", "WIRE", "Make lineclear this repository's merge driver and mergetool"),
    "hook": ("hook", "WIRE", "Answer a coding agent's hook; `lineclear setup CLIENT` installs it"),
    "setup conventions": (
        "mirror",
        "WIRE",
        "Tell agents in AGENTS.md how to work here; --check detects drift",
    ),
    "mirror": ("mirror", "WIRE", "Keep files for agents that can only read files: TASKS.md and claims"),
    "mcp": ("mcp", "WIRE", "Serve the verbs as tools to an MCP client, over stdin and stdout"),
    "serve": ("serve", "WIRE", "Run a server: hooks, commands and tools over HTTP, background work"),
    "gate": ("gate", "", "Check a commit, a push or a moved ref (called by git's hooks)"),
    "completion": ("completion", "WIRE", "Print a completion script for bash, zsh or fish"),
}

# Git calls these as merge drivers: 1 means conflicts, and only codes above 128 mean that they failed.
CALLED_BY_GIT = ("merge-file", "merge-tree")

GROUPS = ("START", "WORK", "RUN", "LAND", "LOOK", "WIRE")

# Verbs that need nothing but the store: a server may run them for us.
SERVED = frozenset((
    "agent leave", "agent list", "claim", "inbox", "log", "proposal accept", "proposal list",
    "proposal reject", "proposal show", "propose", "queue checks", "queue list", "queue show", "release",
    "say", "status", "task add", "task cancel", "task done", "task edit", "task export", "task fail",
    "task list", "task next", "task note", "task ready", "task reopen", "task same", "task show", "topic",
    "value delete", "value drop", "value fork", "value get", "value history", "value list", "value merge",
    "value put", "who",
))  # fmt: skip
# With these options we run them ourselves: they never end, read files or start git. The server could read
# a file that a sandbox hides from us.
_KEPT_HERE = {
    "log": ("-f", "--follow"),
    "propose": ("--file", "--patch", "--remove"),
    "queue show": ("--diff",),
    "status": ("--watch",),
}
_WITH_VALUE = ("--as", "--key", "-C")


def find_verb(words: list[str]) -> tuple[str, list[str]]:
    """The longest known verb at the start of the words, and the rest; "" if there is none."""
    for count in (2, 1):
        verb = " ".join(words[:count])
        if len(words) >= count and verb in INDEX:
            return verb, words[count:]
    return "", words


def before_dashes(argv: list[str]) -> list[str]:
    return argv[: argv.index("--")] if "--" in argv else argv


def split_globals(argv: list[str]) -> tuple[list[str], list[str]]:
    """Split off the options before the verb: every verb takes them (`lineclear --json claim ...`)."""
    place = 0
    while place < len(argv) and argv[place].startswith("-"):
        place += 2 if argv[place] in _WITH_VALUE else 1
    return argv[:place], argv[place:]


def is_served(argv: list[str]) -> bool:
    """May a server run this command? Not if it shows help, reads stdin or a file, or never ends."""
    ahead, words = split_globals(argv)
    verb, arguments = find_verb(words or ["status"])
    if verb not in SERVED or "--version" in ahead:
        return False
    kept = ("-h", "--help", *_KEPT_HERE.get(verb, ()))
    return not any(
        word == "-" or word.endswith("=-") or word.startswith(kept) for word in (*ahead, *arguments)
    )
