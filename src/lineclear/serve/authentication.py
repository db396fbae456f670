"""Who may come in: the right Host, no foreign Origin, and a proof of who it is.

On the Unix socket the file system has checked already: only this user reaches it. Over TCP anybody on this
machine does, a page in a browser among them, so a key or a token is asked of everybody.
"""

from __future__ import annotations

from hmac import compare_digest
from typing import TYPE_CHECKING

from lineclear.core.agents.identity import AGENT as OF_AGENT
from lineclear.core.agents.identity import PERSON, SIGNS, is_about_caller
from lineclear.core.words.refusals import Refusal, refuse
from lineclear.mcp.calls import REQUESTER, Requester

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, MutableMapping
    from typing import Any

    Scope = MutableMapping[str, Any]
    Message = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]
    App = Callable[[Scope, Receive, Send], Awaitable[None]]
    # A token -> its id, and the name and kind behind it; refuses one that is not good.
    Admit = Callable[[str], Awaitable[tuple[str, str, str]]]

AGENT, WORKTREE, VARIABLE = b"x-lineclear-agent", b"x-lineclear-worktree", b"x-lineclear-env"
LOCAL = "local"
# They say who started us, which says nothing of who calls.
_OWN_SIGNS = frozenset((*SIGNS, "LINECLEAR_TOKEN", "LINECLEAR_TASK", "LINECLEAR_KEY", "CLAUDE_PROJECT_DIR"))


class Authenticator:
    """Wraps an application: what comes through has a requester in its scope."""

    def __init__(self, app: App, environ: Mapping[str, str], *, key: str, admit: Admit) -> None:
        self._app, self._key, self._admit = app, key.encode(), admit
        self._environ = plain_environ(environ)
        # Known when the port is.
        self.hosts: frozenset[bytes] = frozenset()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = scope["headers"]
            try:
                requester = await self._let_in(scope, headers)
            except Refusal as refusal:
                await turn_away(send, refusal)
                return
            scope[REQUESTER] = requester
        await self._app(scope, receive, send)

    async def _let_in(self, scope: Scope, headers: list[tuple[bytes, bytes]]) -> Requester:
        if is_from_socket(scope):
            return self._local(headers)
        self._check_origin(headers)
        given = one(headers, b"authorization")
        scheme, _, proof = given.partition(b" ")
        proof = proof.strip()
        if scheme.lower() != b"bearer" or not proof:
            raise refuse("serve.proof")
        if compare_digest(proof, self._key):
            return self._local(headers)
        return await self._bearer(proof.decode("utf-8", "replace"), headers)

    def _check_origin(self, headers: list[tuple[bytes, bytes]]) -> None:
        """A page that a browser shows cannot call us under another name, nor for another site."""
        host, origin = one(headers, b"host").lower(), one(headers, b"origin").lower()
        if host not in self.hosts:
            raise refuse("serve.host", host=host.decode("latin-1"))
        if origin and origin.removeprefix(b"http://") not in self.hosts:
            raise refuse("serve.origin", origin=origin.decode("latin-1"))

    def _local(self, headers: list[tuple[bytes, bytes]]) -> Requester:
        """A process of this user: it says who it is, as the environment of a command does."""
        sent = [value.decode("utf-8", "surrogateescape") for name, value in headers if name == VARIABLE]
        # Who sends variables sends all that count: ours are not to be mixed with them.
        environ = impersonal(self._environ) if sent else dict(self._environ)
        environ.update(dict(text.partition("=")[::2] for text in sent))
        agent = environ.get("LINECLEAR_AGENT", "")
        return _requester(environ, headers, is_person=False, proof=LOCAL, agent=agent)

    async def _bearer(self, token: str, headers: list[tuple[bytes, bytes]]) -> Requester:
        ident, name, kind = await self._admit(token)
        environ = {**self._environ, "LINECLEAR_TOKEN": token}
        is_person = kind == PERSON and not one(headers, AGENT)
        agent = name if kind == OF_AGENT else ""
        return _requester(environ, headers, is_person=is_person, proof=ident, agent=agent)


def _requester(
    environ: dict[str, str], headers: list[tuple[bytes, bytes]], *, is_person: bool, proof: str, agent: str
) -> Requester:
    """`agent`: whom the proof names; a header that names another is judged where all signs are."""
    given = one(headers, AGENT).decode("utf-8", "replace")
    if given:
        environ["LINECLEAR_AGENT"] = given
    cwd = one(headers, WORKTREE).decode("utf-8", "surrogateescape")
    return Requester(environ, cwd=cwd, is_person=is_person, proof=proof, agent=given or agent)


def plain_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """What we were started with, without what says who started us."""
    return {
        name: value
        for name, value in environ.items()
        if name not in _OWN_SIGNS and not name.startswith("GIT_")
    }


def impersonal(environ: Mapping[str, str]) -> dict[str, str]:
    """Without what the answer to a caller depends on: that is the caller's to say."""
    return {name: value for name, value in environ.items() if not is_about_caller(name)}


def is_from_socket(scope: Scope) -> bool:
    server = scope.get("server")
    return server is not None and server[1] is None


def one(headers: list[tuple[bytes, bytes]], name: bytes) -> bytes:
    """A header's value; "" if it is not there, or there twice with two meanings."""
    found = None
    for key, value in headers:
        if key == name:
            if found is not None and value != found:
                return b""
            found = value
    return found or b""


# The HTTP status of a refusal; 403 for every other one.
_STATUS = {
    "serve.proof": 401,
    "serve.host": 421,
    "serve.body": 413,
    "serve.call": 400,
    "serve.elsewhere": 421,
    "token.unknown": 401,
    "token.revoked": 401,
    "token.expired": 401,
}


async def turn_away(send: Send, refusal: Refusal) -> None:
    from json import dumps

    body = dumps({"schema": "lineclear/1", "error": refusal.as_data(), "warnings": []}).encode()
    status = _STATUS.get(refusal.code, 403)
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    # Who is turned away does not keep a connection, nor has us read the rest of what it sends.
    headers.append((b"connection", b"close"))
    if status == 401:
        headers.append((b"www-authenticate", b'Bearer realm="lineclear"'))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
