"""Our environment variables that are not settings. On the hook's path."""

from __future__ import annotations

# Our variables that are not settings: who acts, and what lineclear passes on to the commands it starts.
OTHER_VARIABLES = {
    "AGENT": "The name to act under, like `--as`; it also marks the caller as an agent.",
    "TOKEN": "Proves a name: a token made by `token add`, or the token that `run` gives to its client.",
    "FENCE": "Set by `with` for its command: the fence it runs under.",
    "RESOURCES": "Set by `with` for its command: the resources it holds, one on each line.",
    "KEY": "An operation id for the next command that changes something, like `--key`.",
    "PERSON": "Your own name in the log; wins over `agents.person`.",
    "DEBUG": "If set, an internal error is shown with its traceback.",
    "SERVE": "`0`: a command asks no server, even where it cannot write to the store itself.",
    "TASK": "Set by `run` for its client: the task it works on.",
    "RUN": "Set by `run` for its client: the number of this run.",
    "PROMPT": "Set by `run` for its client: the file with the client's first prompt.",
    "PORT": "Set by `run` for its client and for setup commands: the first port of the worktree.",
    "PORTS": "Like `LINECLEAR_PORT`: all ports of the worktree, first and last, such as `42000-42009`.",
    "WORKTREE": "Set by `run` for its client and for setup commands: the root of the worktree.",
    "EXIT": "Set by `run` for the commands it starts when a run has ended: the client's exit code.",
    "GATE": "`open` lets git's hooks pass without a check; set for the git processes that lineclear starts.",
    "PROBE": "Set by `setup --check` for the client it starts: the file where a hook records that it ran.",
    "CHECK": "`1` for checks and setup commands in a check tree; the caller then never counts as a person.",
    "CHECK_TREE": "Set for checks and setup commands in a check tree: the root of that tree.",
    "SHARD": "Set for a part of `checks.full`: its number, starting at 1.",
    "SHARDS": "Set for a part of `checks.full`: how many parts there are.",
    "LANDED": "Set for `queue.integrator`: a JSON file with the candidates that landed.",
    "CANDIDATE": "Set for `queue.reviewer`: the candidate to review, such as `Q-7`.",
    "DIFF": "Set for `queue.reviewer`: the file with the candidate's changes.",
    "OPENCODE_SESSION": "Set by the plugin of opencode for its shell: the session of the agent.",
    "DROID_SESSION": "Set by the hook of Droid for its shell: the session of the agent.",
    "KIMI": "Set by the MCP server for the tools that Kimi calls: it marks the caller as an agent.",
    "CALL": "Set by a hook's stub: the id of a call that is repeated because `lineclear serve` was killed.",
}
