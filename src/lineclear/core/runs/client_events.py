"""What a running client reports about itself, in one form for all clients.

Plain classes with slots: a hook, a process of a few milliseconds, may import this.
"""

from __future__ import annotations

UNKNOWN = -1


class Sign:
    """One report of a client. Two are equal if they have the same class and content."""

    __slots__: tuple[str, ...] = ()

    def content(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.content() == other.content()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.content()))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"{type(self).__name__}({fields})"


class SessionSign(Sign):
    """The client's own id for this conversation, which a later launch can resume."""

    __slots__ = ("id",)

    def __init__(self, id: str) -> None:
        self.id = id


class Model(Sign):
    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Call(Sign):
    """A tool is about to be used. Paths inside the worktree are relative to it."""

    __slots__ = ("tool", "input_digest", "paths", "summary", "is_edit", "is_shell")

    def __init__(
        self,
        tool: str,
        input_digest: str,
        paths: tuple[str, ...] = (),
        summary: str = "",
        *,
        is_edit: bool = False,
        is_shell: bool = False,
    ) -> None:
        self.tool, self.input_digest, self.paths, self.summary = tool, input_digest, paths, summary
        self.is_edit, self.is_shell = is_edit, is_shell


class CallDone(Sign):
    """A tool has answered: `digest` is of its result, `input_digest` of the call that it answers."""

    __slots__ = ("ok", "digest", "input_digest")

    def __init__(self, ok: bool, digest: str, input_digest: str = "") -> None:
        self.ok, self.digest, self.input_digest = ok, digest, input_digest


class Said(Sign):
    """The beginning of what the model wrote."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class Usage(Sign):
    """What this run has used so far; numbers never go down, and are -1 if the client does not report them.

    `tokens_in` is the whole input; `tokens_cached` is the part of it that the model's server had cached.
    """

    __slots__ = ("tokens_in", "tokens_out", "tokens_cached", "cost_micros")

    def __init__(
        self,
        tokens_in: int = UNKNOWN,
        tokens_out: int = UNKNOWN,
        tokens_cached: int = UNKNOWN,
        cost_micros: int = UNKNOWN,
    ) -> None:
        self.tokens_in, self.tokens_out = tokens_in, tokens_out
        self.tokens_cached, self.cost_micros = tokens_cached, cost_micros


class Limited(Sign):
    """The model's server is over its limit or unavailable. Not an end: the client may still be retrying."""

    __slots__ = ("text", "retry_after_s")

    def __init__(self, text: str, retry_after_s: int = UNKNOWN) -> None:
        self.text, self.retry_after_s = text, retry_after_s


class NotLoggedIn(Sign):
    """The client is not logged in, or its login has expired. Not an end: the client may still be retrying."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class DoneSign(Sign):
    """The client says that it is done. More may follow: only the end of its output is the end."""

    __slots__ = ("ok", "reason")

    def __init__(self, ok: bool, reason: str = "") -> None:
        self.ok, self.reason = ok, reason


class RunEnd(Sign):
    """How the client ended, known when its process is gone. At most one of `is_limited`, `is_login` is
    true."""

    __slots__ = ("ok", "reason", "is_limited", "is_login", "retry_after_s", "unread_lines")

    def __init__(
        self,
        ok: bool,
        reason: str = "",
        *,
        is_limited: bool = False,
        is_login: bool = False,
        retry_after_s: int = UNKNOWN,
        unread_lines: int = 0,
    ) -> None:
        self.ok, self.reason, self.is_limited, self.is_login = ok, reason, is_limited, is_login
        self.retry_after_s, self.unread_lines = retry_after_s, unread_lines
