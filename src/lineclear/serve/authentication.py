"""Check every request: the right Host, no foreign Origin, and a proof of identity.

Only this user can reach the Unix socket: the file system checks that. Everybody on this machine, also a page
in a browser, can reach the TCP port, so it asks for a key or a token.
"""

from __future__ import annotations

from hmac import compare_digest
from json import dumps
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
    # A token -> its id, and the name and kind of its owner; refuses an invalid one.
    Admit = Callable[[str], Awaitable[tuple[str, str, str]]]

AGENT, WORKTREE, VARIABLE = b"x-lineclear-agent", b"x-lineclear-worktree", b"x-lineclear-env"
LOCAL = "local"
# These say who started the server, not who calls it.
_OWN_SIGNS = frozenset((*SIGNS, "LINECLEAR_TOKEN", "LINECLEAR_TASK", "LINECLEAR_KEY", "CLAUDE_PROJECT_DIR"))


class Authenticator:
    """Wraps an application and puts the requester into the scope of every request."""

    def __init__(self, app: App, environ: Mapping[str, str], *, key: str, admit: Admit) -> None:
        self._app, self._key, self._admit = app, key.encode(), admit
        self._environ = plain_environ(environ)
        # Set when the port is known.
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
        """Refuse a page in a browser that calls us under another host name or from another site."""
        host, origin = one(headers, b"host").lower(), one(headers, b"origin").lower()
        if host not in self.hosts:
            raise refuse("serve.host", host=host.decode("latin-1"))
        if origin and origin.removeprefix(b"http://") not in self.hosts:
            raise refuse("serve.origin", origin=origin.decode("latin-1"))

    def _local(self, headers: list[tuple[bytes, bytes]]) -> Requester:
        """A process of this user: its variables say who it is, as they do for a command."""
        sent = [value.decode("utf-8", "surrogateescape") for name, value in headers if name == VARIABLE]
        # A caller that sends variables sends all that matter: do not mix ours in.
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
    """`agent` is the name that the proof gives; identity.resolve judges a header with another name."""
    given = one(headers, AGENT).decode("utf-8", "replace")
    if given:
        environ["LINECLEAR_AGENT"] = given
    cwd = one(headers, WORKTREE).decode("utf-8", "surrogateescape")
    return Requester(environ, cwd=cwd, is_person=is_person, proof=proof, agent=given or agent)


def plain_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """The server's environment without the variables that say who started it."""
    return {
        name: value
        for name, value in environ.items()
        if name not in _OWN_SIGNS and not name.startswith("GIT_")
    }


def impersonal(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without all variables that the caller must supply itself."""
    return {name: value for name, value in environ.items() if not is_about_caller(name)}


def is_from_socket(scope: Scope) -> bool:
    server = scope.get("server")
    return server is not None and server[1] is None


def one(headers: list[tuple[bytes, bytes]], name: bytes) -> bytes:
    """A header's value; "" if it is missing, or given twice with different values."""
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
    "serve.sessions": 429,
    "serve.host": 421,
    "serve.body": 413,
    "serve.call": 400,
    "serve.elsewhere": 421,
    "token.unknown": 401,
    "token.revoked": 401,
    "token.expired": 401,
}


async def turn_away(send: Send, refusal: Refusal) -> None:
    body = dumps({"schema": "lineclear/1", "error": refusal.as_data(), "warnings": []}).encode()
    status = _STATUS.get(refusal.code, 403)
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    # Close the connection, so that we need not read the rest of the request.
    headers.append((b"connection", b"close"))
    if status == 401:
        headers.append((b"www-authenticate", b'Bearer realm="lineclear"'))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
