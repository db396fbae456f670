"""Who the caller of a door is: collects the signs, asks the one resolver, makes the caller."""

from __future__ import annotations

from lineclear.app.agents import agent_of_tree, ensure_agent, name_for_session
from lineclear.app.ports import Caller
from lineclear.core.identity import AGENT as OF_AGENT
from lineclear.core.identity import Signs, read_environment, resolve
from lineclear.core.names import agent_name
from lineclear.core.questions import any_of
from lineclear.core.refusals import Refusal
from lineclear.core.tables import AGENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from lineclear.app.ports import Presence, Store, Tx, View
    from lineclear.core.tokens import Bearer


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
    """`client` and `session`: as a hook's input names them, which counts more than the environment.

    A token that is not good is refused, whatever other signs there are: nobody falls back to another name.
    """
    if session or client:
        is_marked = True
    else:
        client, session, is_marked = read_environment(environ)
    given = given or environ.get("LINECLEAR_AGENT", "")
    if given:
        agent_name(given)

    token = environ.get("LINECLEAR_TOKEN", "")

    def look(view: View) -> tuple[str, str, Bearer | None]:
        bearer = _bearer(view, token) if token else None
        is_known = bearer is not None and (bearer.kind == OF_AGENT or not is_marked)
        if given or is_known:
            return "", "", bearer
        by_session = [any_of(AGENT, "session", session)] if session else []
        view.prefetch(*by_session, any_of(AGENT, "tree", tree))
        known = next((agent.name for agent in view.pick(AGENT, "session", (session,))), "") if session else ""
        return known, agent_of_tree(view, tree), bearer

    is_named = given and not session and not token
    session_agent, tree_agent, bearer = ("", "", None) if is_named else store.read(look)
    actor = resolve(
        Signs(
            person=person, token_name=bearer.name if bearer is not None else "",
            token_kind=bearer.kind if bearer is not None else "", given=given, client=client, session=session,
            session_agent=session_agent, tree_agent=tree_agent, is_marked=is_marked,
        )
    )  # fmt: skip
    caller = Caller(
        actor.name,
        is_person=actor.is_person,
        tree=tree,
        client="" if actor.is_person else client,
        session=session if actor.source == "session" else "",
        op=op,
        keep_ms=keep_ms,
    )
    if actor.is_new:
        _take_name(store, presence, caller, silence_ms)
    caller.seen = presence.seen(caller.name)
    return caller


def _take_name(store: Store, presence: Presence, caller: Caller, silence_ms: int) -> None:
    """The name of a session that is new here. One with an id is entered at once: of two that begin at
    the same moment, each gets its own. Where nothing can be written the name is only looked up."""

    def name(view: View) -> str:
        return name_for_session(view, presence, caller.client, caller.session, caller.tree, silence_ms)

    def enter(tx: Tx) -> None:
        caller.name = name(tx)
        ensure_agent(tx, caller)

    caller.name = store.read(name)
    if caller.session:
        try:
            store.transact(caller, enter)
        except Refusal:
            return
        presence.touch(caller.name, None)


def _bearer(view: View, token: str) -> Bearer:
    from lineclear.app.tokens import verify

    return verify(view, token)
