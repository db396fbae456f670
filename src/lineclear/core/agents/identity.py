"""Who is calling: the one resolver for hooks, MCP, the shell and edited files.

The first of these that is known decides: an agent's checked token; a given name (`--as`, LINECLEAR_AGENT); a
person's checked token; the client's session; the agent bound to this worktree; the person. Any sign of an
agent makes the caller an agent: it may not use a person's verbs, however its name was found, and a person's
token does not make it that person.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

AGENT, PERSON = "agent", "person"

# (environment variable with the session id of a tool call, the client that sets it).
SESSION_VARIABLES: tuple[tuple[str, str], ...] = (
    ("CLAUDE_CODE_SESSION_ID", "claude"),
    ("CODEX_THREAD_ID", "codex"),
    ("COPILOT_AGENT_SESSION_ID", "copilot"),
    ("QWEN_CODE_SESSION_ID", "qwen"),
    ("GROK_SESSION_ID", "grok"),
    # droid sets none itself: our hook makes it set this one at the start of a session.
    ("LINECLEAR_DROID_SESSION", "droid"),
    # opencode sets none itself: our plugin makes it set this one for every command.
    ("LINECLEAR_OPENCODE_SESSION", "opencode"),
    ("AGENT_SESSION_ID", "goose"),
)
# Clients that set another variable with the id of the sub-agent that runs the command; "" for none.
SUBAGENT_VARIABLES = {"qwen": "QWEN_CODE_AGENT_ID"}
# Clients that give the commands of a sub-agent a session that no hook ever names.
STRAY_SESSIONS = ("copilot",)
# Clients that number their sessions separately on each machine.
COUNTING = ("goose",)
# Variables that say "an agent runs this" without naming its session.
MARKS: tuple[tuple[str, str], ...] = (
    ("CLAUDECODE", "claude"),
    ("GEMINI_CLI", "gemini"),
    ("QWEN_CODE", "qwen"),
    ("OPENCODE", "opencode"),
    ("GROK_AGENT", "grok"),
    ("CLINE_CONNECTOR_CLI_LAUNCH", "cline"),
    # Kimi sets none itself; our MCP server recognises it by its greeting.
    ("LINECLEAR_KIMI", "kimi"),
    ("AI_AGENT", ""),
    ("LINECLEAR_AGENT", ""),
    # A check runs code that agents wrote.
    ("LINECLEAR_CHECK", ""),
)
# If one of these is set, an agent is calling.
SIGNS: tuple[str, ...] = tuple(name for name, _ in SESSION_VARIABLES + MARKS)


class Signs:
    """What is known about a caller; "" where nothing is known."""

    __slots__ = ("client", "given", "is_marked", "person", "session", "session_agent", "token_kind",
                 "token_name", "tree_agent")  # fmt: skip

    def __init__(
        self,
        *,
        person: str,
        token_name: str = "",
        token_kind: str = "",
        given: str = "",
        client: str = "",
        session: str = "",
        session_agent: str = "",
        tree_agent: str = "",
        is_marked: bool = False,
    ) -> None:
        self.person, self.token_name, self.token_kind = person, token_name, token_kind
        self.given, self.client, self.session = given, client, session
        self.session_agent, self.tree_agent, self.is_marked = session_agent, tree_agent, is_marked


class Actor:
    """The caller: its name, whether it is a person, and which sign decided. `is_new`: `name` is a client's
    name, and the agent gets a numbered name when it joins."""

    __slots__ = ("is_new", "is_person", "name", "source")

    def __init__(self, name: str, *, is_person: bool, source: str, is_new: bool = False) -> None:
        self.name, self.is_person, self.source, self.is_new = name, is_person, source, is_new


def resolve(signs: Signs) -> Actor:
    """Refuses an agent's token together with a name that is neither its own nor a sub-agent's, and an agent
    with the person's name in any case."""
    may_be_person = not signs.is_marked and not signs.session
    if signs.token_name and signs.token_kind == AGENT:
        return Actor(_agent_of_token(signs.token_name, signs.given), is_person=False, source="token")
    person = signs.token_name or signs.person
    if signs.given:
        is_person = signs.given == person and may_be_person
        if not is_person and signs.given.partition("/")[0].lower() in (person.lower(), signs.person.lower()):
            from lineclear.core.words.refusals import refuse

            raise refuse("agent.person", given=signs.given, person=person)
        return Actor(signs.given, is_person=is_person, source="name")
    if signs.token_name and may_be_person:
        return Actor(signs.token_name, is_person=True, source="token")
    if signs.session:
        if signs.session_agent:
            return Actor(signs.session_agent, is_person=False, source="session")
        return Actor(signs.client or "agent", is_person=False, source="session", is_new=True)
    if signs.is_marked:
        if signs.tree_agent:
            return Actor(signs.tree_agent, is_person=False, source="worktree")
        return Actor(signs.client or "agent", is_person=False, source="mark", is_new=True)
    if signs.tree_agent:
        return Actor(signs.tree_agent, is_person=False, source="worktree")
    return Actor(signs.person, is_person=True, source="person")


def _agent_of_token(owner: str, given: str) -> str:
    if not given or given == owner:
        return owner
    if given.startswith(owner + "/"):
        return given
    from lineclear.core.words.refusals import refuse

    raise refuse("token.other", owner=owner, given=given)


def read_environment(environ: Mapping[str, str]) -> tuple[str, str, bool]:
    """(client, session, whether an agent is calling), from the environment of a tool call."""
    for variable, client in SESSION_VARIABLES:
        session = environ.get(variable, "")
        if session:
            return client, session, True
    for variable, client in MARKS:
        if environ.get(variable):
            return client, "", True
    return "", "", False


def next_name(client: str, taken: set[str]) -> str:
    """`claude-1`, `claude-2`, ...: the first that is free."""
    number = 1
    while f"{client}-{number}" in taken:
        number += 1
    return f"{client}-{number}"


# Besides its arguments and its directory, a command's answer depends on these: the caller and our settings.
_ABOUT_CALLERS = frozenset((*SIGNS, "USER", "LOGNAME", "NO_COLOR"))


def is_about_caller(variable: str) -> bool:
    return variable.startswith("LINECLEAR_") or variable in _ABOUT_CALLERS
