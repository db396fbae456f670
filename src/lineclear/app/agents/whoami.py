"""Find out who is calling: collect the signs, ask `identity.resolve`, and make the `Caller`."""

from __future__ import annotations

from lineclear.app.agents.membership import agent_of_tree, ensure_agent, name_for_session, parent_in_tree
from lineclear.app.ports import Caller
from lineclear.core.agents.hooks import subagent_name
from lineclear.core.agents.identity import AGENT as OF_AGENT
from lineclear.core.agents.identity import (
    STRAY_SESSIONS,
    SUBAGENT_VARIABLES,
    Signs,
    read_environment,
    resolve,
)
from lineclear.core.agents.names import agent_name
from lineclear.core.log.queries import any_of
from lineclear.core.log.tables import AGENT
from lineclear.core.words.refusals import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from lineclear.app.ports import Presence, Store, Tx, View


def identify(
    store: Store,
    presence: Presence,
    *,
    environ: Mapping[str, str],
    tree: str,
    person: str,
    given: str = "",
    op: str = "",
    keep_ms: int = 24 * 3_600_000,
    silence_ms: int = 600_000,
    client: str = "",
    session: str = "",
) -> Caller:
    """The caller. `client` and `session` come from a hook's input and override the environment.

    Refuses an invalid token even if there are other signs, so nobody falls back to another name.
    """
    signs = signs_of(environ, person=person, given=given, client=client, session=session)
    token = environ.get("LINECLEAR_TOKEN", "")
    caller = Caller("", tree=tree, op=op, keep_ms=keep_ms)
    # A hook's input names the sub-agent itself.
    subagent = "" if session else environ.get(SUBAGENT_VARIABLES.get(signs.client, ""), "")

    def look(view: View) -> bool:
        is_new = recognise(view, presence, caller, signs, token=token, silence_ms=silence_ms)
        if caller.session and signs.tree_agent.startswith(caller.name + "/"):
            # A sub-agent in a worktree of its own; the session stays its parent's.
            caller.name, caller.session = signs.tree_agent, ""
            caller.seen = presence.seen(caller.name)
        elif caller.session and subagent:
            caller.name, caller.session = subagent_name(caller.name, subagent), ""
            caller.seen = presence.seen(caller.name)
        elif is_new and not session and signs.client in STRAY_SESSIONS:
            parent = parent_in_tree(view, tree, signs.client)
            if parent:
                caller.name, caller.session = parent, ""
                caller.seen = presence.seen(parent)
                return False
        return is_new

    def enter(tx: Tx) -> None:
        look(tx)
        ensure_agent(tx, caller)

    if signs.given and not signs.session and not token:
        _become(caller, signs)
        caller.seen = presence.seen(caller.name)
    elif store.read(look):
        # Log it at once: two sessions that begin at the same moment must get two names.
        try:
            store.transact(caller, enter)
        except Refusal:
            return caller  # the store cannot be written now; the name is still right for reading
        presence.touch(caller.name, None)
    return caller


def signs_of(
    environ: Mapping[str, str], *, person: str, given: str = "", client: str = "", session: str = ""
) -> Signs:
    """What a call itself shows about its caller, without the store."""
    is_marked = bool(session or client)
    if not is_marked:
        client, session, is_marked = read_environment(environ)
    given = given or environ.get("LINECLEAR_AGENT", "")
    if given:
        agent_name(given)
    return Signs(person=person, given=given, client=client, session=session, is_marked=is_marked)


def recognise(
    view: View, presence: Presence, caller: Caller, signs: Signs, *, token: str, silence_ms: int
) -> bool:
    """Fill in who the caller is. True for a new session: call `ensure_agent` to claim its name."""
    bearer = None
    if token:
        from lineclear.app.agents.tokens import verify

        bearer = verify(view, token)
    signs.token_name, signs.token_kind = (bearer.name, bearer.kind) if bearer is not None else ("", "")
    signs.session_agent = signs.tree_agent = ""
    is_known = bearer is not None and (bearer.kind == OF_AGENT or not signs.is_marked)
    if not signs.given and not is_known:
        by_session = [any_of(AGENT, "session", signs.session)] if signs.session else []
        view.prefetch(*by_session, any_of(AGENT, "tree", caller.tree))
        if signs.session:
            found = view.pick(AGENT, "session", (signs.session,))
            signs.session_agent = next((agent.name for agent in found), "")
        signs.tree_agent = agent_of_tree(view, caller.tree)
    is_new = _become(caller, signs)
    if is_new:
        caller.name = name_for_session(view, presence, caller.client, caller.session, caller.tree, silence_ms)
    caller.seen = presence.seen(caller.name)
    return is_new and bool(caller.session)


def _become(caller: Caller, signs: Signs) -> bool:
    """Fill in what the signs alone say; True for a session that still needs a name."""
    actor = resolve(signs)
    caller.name, caller.is_person = actor.name, actor.is_person
    caller.client = "" if actor.is_person else signs.client
    caller.session = signs.session if actor.source == "session" else ""
    return actor.is_new
