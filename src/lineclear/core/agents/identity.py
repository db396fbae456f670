"""Who acts: the one resolver for every door (hook, MCP, shell, files).

First that answers: an agent's checked token; a name given (`--as`, LINECLEAR_AGENT); a person's checked
token; the client's session; the agent bound to this worktree; the person. Any mark of an agent makes the
actor an agent: it may not use a person's verbs, however its name was found, nor is it the person whose token
it has.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

AGENT, PERSON = "agent", "person"

# Environment of a tool call -> which client runs it; the first column holds its session id.
SESSION_VARIABLES: tuple[tuple[str, str], ...] = (
    ("CLAUDE_CODE_SESSION_ID", "claude"),
    ("CODEX_THREAD_ID", "codex"),
    ("COPILOT_AGENT_SESSION_ID", "copilot"),
    ("GROK_SESSION_ID", "grok"),
    # droid has none of its own: our hook asks it at the start to set this.
    ("LINECLEAR_DROID_SESSION", "droid"),
    ("AGENT_SESSION_ID", "goose"),
)
# Clients that number their sessions separately on each machine.
COUNTING = ("goose",)
# Variables that only say "an agent runs this", without a session.
MARKS: tuple[tuple[str, str], ...] = (
    ("CLAUDECODE", "claude"),
    ("GEMINI_CLI", "gemini"),
    ("GROK_AGENT", "grok"),
    ("CLINE_CONNECTOR_CLI_LAUNCH", "cline"),
    # Kimi sets nothing; our MCP server knows it by its greeting.
    ("LINECLEAR_KIMI", "kimi"),
    ("AI_AGENT", ""),
    ("LINECLEAR_AGENT", ""),
    # A check runs what agents wrote.
    ("LINECLEAR_CHECK", ""),
)
# Their presence means that an agent is at work.
SIGNS: tuple[str, ...] = tuple(name for name, _ in SESSION_VARIABLES + MARKS)


class Signs:
    """What a door knows about its caller; empty text where it knows nothing."""

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
    """The answer: a name, whether it is a person, and which sign told us."""

    __slots__ = ("is_new", "is_person", "name", "source")

    def __init__(self, name: str, *, is_person: bool, source: str, is_new: bool = False) -> None:
        self.name, self.is_person, self.source, self.is_new = name, is_person, source, is_new


def resolve(signs: Signs) -> Actor:
    """Refuses an agent's token together with a name that is neither its own nor a sub-agent's."""
    may_be_person = not signs.is_marked and not signs.session
    if signs.token_name and signs.token_kind == AGENT:
        return Actor(_spoken_for(signs.token_name, signs.given), is_person=False, source="token")
    person = signs.token_name or signs.person
    if signs.given:
        return Actor(signs.given, is_person=signs.given == person and may_be_person, source="name")
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


def _spoken_for(owner: str, given: str) -> str:
    if not given or given == owner:
        return owner
    if given.startswith(owner + "/"):
        return given
    from lineclear.core.words.refusals import refuse

    raise refuse("token.other", owner=owner, given=given)


def read_environment(environ: Mapping[str, str]) -> tuple[str, str, bool]:
    """(client, session, marked) as the environment of a tool call shows them."""
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


# What a command's answer depends on beside its words and its place: who asks, and settings of ours.
_ABOUT_CALLERS = frozenset((*SIGNS, "USER", "LOGNAME", "NO_COLOR"))


def is_about_caller(variable: str) -> bool:
    return variable.startswith("LINECLEAR_") or variable in _ABOUT_CALLERS
