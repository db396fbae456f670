"""Every verb: where it is made, what it does, in which group of the help it stands.

A plain table, so that help and completion need none of the command modules.
"""

from __future__ import annotations

# verb -> (module in cli/commands, group, summary)
INDEX: dict[str, tuple[str, str, str]] = {
    "status": ("status", "LOOK", "Show who needs you, agents, claims and tasks (also: no verb at all)"),
    "init": ("start", "START", "Put this repository under coordination"),
    "doctor": ("start", "START", "Check store, git and settings; --fix repairs what is safe"),
    "trust": ("trust", "START", "Let run what the committed lineclear.toml asks for; shows it all"),
    "config show": ("start", "START", "Show the settings and where each one comes from"),
    "uninstall": ("start", "START", "Remove the store and everything else lineclear put here"),
    "demo": ("demo", "START", "Watch four agents build a shop, without and with lineclear"),
    "task add": ("tasks", "WORK", "Add a task; likely duplicates are shown"),
    "task import": ("tasks", "WORK", "Add a whole list: a Markdown checklist or JSON"),
    "task list": ("tasks", "WORK", "List tasks by state"),
    "task ready": ("tasks", "WORK", "List tasks that can be taken now"),
    "task next": ("tasks", "WORK", "Take a task: the named one, or the next that fits you"),
    "task show": ("tasks", "WORK", "Show a task with its notes and history"),
    "task edit": ("tasks", "WORK", "Change a task's texts, priority, scope or what it comes after"),
    "task note": ("tasks", "WORK", "Add a status update to a task"),
    "task done": ("tasks", "WORK", "End a task; with --branch hand its work over"),
    "task fail": ("tasks", "WORK", "Give a task up with a reason"),
    "task cancel": ("tasks", "WORK", "End a task that is no longer wanted"),
    "task reopen": ("tasks", "WORK", "Put a task back among the open ones"),
    "task same": ("tasks", "WORK", "Record that a task is the same work as another"),
    "task export": ("tasks", "WORK", "Write all tasks as Markdown or JSON"),
    "claim": ("claims", "WORK", "Hold resources: files, directories, globs, symbols, rows, ports and more"),
    "release": ("claims", "WORK", "Give back what you hold"),
    "who": ("claims", "WORK", "Explain a resource: strategy, holders, waiters, last writers"),
    "with": ("claims", "WORK", "Hold resources around a command and stop it when they are lost"),
    "value get": ("values", "WORK", "Read a shared value and its version"),
    "value put": ("values", "WORK", "Write a shared value; a stale version is refused"),
    "value delete": ("values", "WORK", "Delete a shared value"),
    "value list": ("values", "WORK", "List shared values and copies"),
    "value history": ("values", "WORK", "Show the versions of a value, newest first"),
    "value fork": ("values", "WORK", "Make an isolated copy of values"),
    "value merge": ("values", "WORK", "Merge a copy back; conflicts are named by JSON pointer"),
    "value drop": ("values", "WORK", "Throw a copy away"),
    "propose": ("proposals", "WORK", "Ask the owner of a single-writer resource for a change"),
    "proposal list": ("proposals", "WORK", "List proposals"),
    "proposal show": ("proposals", "WORK", "Show a proposal"),
    "proposal accept": ("proposals", "WORK", "Accept a proposal: the oldest open one of its resource"),
    "proposal reject": ("proposals", "WORK", "Reject a proposal with a reason"),
    "phase": ("phase", "WORK", "Show the phase, or begin one: parallel, integrate, test"),
    "say": ("messages", "WORK", "Send a message to an agent, a topic or everyone"),
    "inbox": ("messages", "WORK", "Read what was sent to you, urgent first"),
    "topic": ("messages", "WORK", "Listen to a topic, or no longer"),
    "merge-file": ("merge", "WORK", "Merge one file three ways: what is safe, else named conflicts"),
    "merge-tree": ("merge", "WORK", "Merge two trees without a work tree and print the tree's id"),
    "migration next": ("migration", "WORK", "Reserve the next migration's number before you write it"),
    "worktree add": ("worktrees", "RUN", "Make a worktree with its branch, ports and ignored files"),
    "worktree list": ("worktrees", "RUN", "List worktrees: agent, task, branch, what is new in them"),
    "worktree adopt": ("worktrees", "RUN", "Take over a worktree that you or a client made"),
    "worktree remove": ("worktrees", "RUN", "Remove a worktree; what is in no commit or snapshot is kept"),
    "run": ("run", "RUN", "Keep agents at work on the ready tasks, each in a worktree of its own"),
    "attach": ("run", "RUN", "Follow what a running agent does"),
    "stop": ("run", "RUN", "Stop a running agent; its work is kept"),
    "pause": ("run", "RUN", "Let a running agent stand still"),
    "resume": ("run", "RUN", "Let a paused agent go on"),
    "sync": ("sync", "RUN", "Bring your worktree's branch up to main, or say where both do not fit"),
    "check": ("land", "LAND", "Say whether a branch fits main; --run also runs the repository's checks"),
    "land": ("land", "LAND", "Hand a branch to the queue; what needs no check is on main at once"),
    "queue list": ("queue", "LAND", "List what waits to land, in order; --all also what ended"),
    "queue show": ("queue", "LAND", "Explain a candidate: every decision, the failing output, its diff"),
    "queue checks": ("queue", "LAND", "Show each check: its runs, failures, and passes on a later try"),
    "queue run": ("queue", "LAND", "Check and land what waits; --once until nothing more can be done"),
    "queue approve": ("queue", "LAND", "Approve a candidate as it is now"),
    "queue reject": ("queue", "LAND", "Send a candidate back to its author"),
    "queue hold": ("queue", "LAND", "Let a candidate stand still"),
    "queue move": ("queue", "LAND", "Put a candidate before another one, first or last"),
    "queue drop": ("queue", "LAND", "Take a candidate out of the queue; its branch stays"),
    "queue retry": ("queue", "LAND", "Try a candidate again that is held or needs you"),
    "queue pause": ("queue", "LAND", "Let nothing land until the queue is resumed"),
    "queue resume": ("queue", "LAND", "Let the queue go on"),
    "undo": ("land", "LAND", "Take a landing back with a commit that lands like any other"),
    "diff": ("look", "RUN", "Show an agent's work: committed, changed and new files, against main"),
    "open": ("look", "RUN", "Open a shell or your editor in an agent's worktree"),
    "salvage list": ("salvage", "RUN", "List snapshots of agents' worktrees"),
    "salvage show": ("salvage", "RUN", "Show what a snapshot holds"),
    "salvage restore": ("salvage", "RUN", "Bring a snapshot back as a branch or a patch"),
    "salvage take": ("salvage", "RUN", "Take a snapshot now, of your worktree or an agent's"),
    "gc": ("gc", "RUN", "Show what can be cleared away; --apply removes it"),
    "agent list": ("agents", "LOOK", "List everybody who was ever here"),
    "agent leave": ("agents", "WORK", "End an agent's presence and free what it holds"),
    "log": ("log", "LOOK", "Show the log; -f follows it, --before orders two events"),
    "audit": ("log", "LOOK", "Replay the log through the rules and compare it with the tables"),
    "token add": ("tokens", "WIRE", "Make a token that proves an agent's or a person's name; shown once"),
    "token list": ("tokens", "WIRE", "List tokens: whose, since when, until when; never a secret"),
    "token revoke": ("tokens", "WIRE", "End a token, or all tokens of a name"),
    "db info": ("db", "WIRE", "Show the store: engine, versions, size"),
    "db backup": ("db", "WIRE", "Write a consistent copy of the store to a file"),
    "db verify": ("db", "WIRE", "Check the store for damage"),
    "db copy": ("db", "WIRE", "Copy the store to another engine by replaying its log"),
    "setup": ("setup", "WIRE", "Put lineclear's hooks into a client's settings, check or remove them"),
    "setup git-merge": ("merge", "WIRE", "Make lineclear this repository's merge driver and mergetool"),
    "hook": ("hook", "WIRE", "Answer a coding agent's hook; `lineclear setup CLIENT` installs it"),
    "setup conventions": ("mirror", "WIRE", "Tell agents in AGENTS.md how to work here; --check says drift"),
    "mirror": ("mirror", "WIRE", "Keep files for agents that only read files: TASKS.md and who holds what"),
    "mcp": ("mcp", "WIRE", "Serve the verbs as tools to an MCP client, over stdin and stdout"),
    "serve": ("serve", "WIRE", "Stay: answer hooks, commands and tools over HTTP, work in the background"),
    "gate": ("gate", "", "Judge a commit, a push or a moved ref (called by git's hooks)"),
    "completion": ("completion", "WIRE", "Print a completion script for bash, zsh or fish"),
}

# Git calls these as merge drivers: 1 means conflicts, and only codes above 128 mean that they failed.
CALLED_BY_GIT = ("merge-file", "merge-tree")

GROUPS = ("START", "WORK", "RUN", "LAND", "LOOK", "WIRE")

# Verbs that need nothing but the store: a server may do them for us.
SERVED = frozenset((
    "agent leave", "agent list", "claim", "inbox", "log", "proposal accept", "proposal list",
    "proposal reject", "proposal show", "propose", "queue checks", "queue list", "queue show", "release",
    "say", "status", "task add", "task cancel", "task done", "task edit", "task export", "task fail",
    "task list", "task next", "task note", "task ready", "task reopen", "task same", "task show", "topic",
    "value delete", "value drop", "value fork", "value get", "value history", "value list", "value merge",
    "value put", "who",
))  # fmt: skip
# Options that keep them here: what never ends, and what reads files or starts git. A sandbox may hide a file
# from us that the server could read.
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
    """Options before the verb belong to every verb: `lineclear --json claim ...` is accepted."""
    place = 0
    while place < len(argv) and argv[place].startswith("-"):
        place += 2 if argv[place] in _WITH_VALUE else 1
    return argv[:place], argv[place:]


def is_served(argv: list[str]) -> bool:
    """May a server do this command? No where it shows help, reads stdin or a file, or does not end."""
    ahead, words = split_globals(argv)
    verb, arguments = find_verb(words or ["status"])
    if verb not in SERVED or "--version" in ahead:
        return False
    kept = ("-h", "--help", *_KEPT_HERE.get(verb, ()))
    return not any(
        word == "-" or word.endswith("=-") or word.startswith(kept) for word in (*ahead, *arguments)
    )
