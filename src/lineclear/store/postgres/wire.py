"""One connection to PostgreSQL in pipeline mode: many commands, one round trip.

Commands that are sent together are one transaction, unless one of them is BEGIN. `post` sends without
waiting; its answers are read with the next ones. Every command is prepared when it is first used. Knows
nothing about tables or rules.
"""

from __future__ import annotations

import select
from collections import deque
from itertools import count
from math import ceil
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode, urlsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import ConnStatus, DiagnosticField, ExecStatus, TransactionStatus

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from psycopg.pq.abc import PGresult

    Parameter = int | str | None
    Command = tuple[str, Sequence[Parameter]]

# A server that says nothing for so long, new connection or old, is out of reach.
REACHED_WITHIN_S = 10
# So we notice a dead network within about half a minute. Settings in the URL take precedence.
DEFAULTS: dict[str, Any] = {
    "application_name": "lineclear",
    "connect_timeout": REACHED_WITHIN_S,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
_NOT_YET = (
    "starting up",
    "shutting down",
    "recovery mode",
    "not yet accepting",
    "too many",
    "connection slots",
)
# For the answer of a server that we reach: longer than it lets anybody wait for a repository's lock
# (LOCK_LIMIT_S in failures.py).
PATIENCE_S = 40.0
_SECRET_NAMES = ("password", "sslpassword", "passfile", "oauth_client_secret")
_PREPARE, _COMMAND, _SEQUEL, _POSTED, _SYNC, _GREETING = (
    "prepare", "command", "sequel", "posted", "sync", "greeting",
)  # fmt: skip


class ServerError(Exception):
    """The server refused a command and rolled its transaction back."""

    def __init__(self, state: str, message: str) -> None:
        super().__init__(message)
        self.state, self.message = state, message


class LostError(Exception):
    """There is no connection (any more). A command in progress may or may not have taken effect."""


class SilentError(LostError):
    """The server did not answer in time: do not try again."""


class TurnedAwayError(LostError):
    """The server rejected our connection."""


class UnusableTextError(Exception):
    """A text that PostgreSQL cannot store."""


def show_url(url: str) -> str:
    """The URL without passwords, wherever they are in it."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "postgresql://..."
    if not parts.scheme.startswith("postgres"):
        return "postgresql://..."
    user, at, host = parts.netloc.rpartition("@")
    shown = f"{user.partition(':')[0]}{at}{host}"
    query = urlencode([(name, value) for name, value in parse_qsl(parts.query) if name not in _SECRET_NAMES])
    return f"{parts.scheme}://{shown}{parts.path}{'?' if query else ''}{query}"


def connect_text(url: str, connect_s: int = 0) -> str:
    """The text for libpq: the URL, plus our defaults for what it does not set. `connect_s`: the longest time
    to connect, whatever the URL says."""
    try:
        given = conninfo_to_dict(url)
    except psycopg.Error:
        # libpq quotes the part that it cannot parse, which may be the password.
        raise TurnedAwayError("its URL cannot be read; expected postgresql://USER@HOST/DATABASE") from None
    settled = DEFAULTS | given | {"client_encoding": "utf8"}
    if connect_s:
        settled["connect_timeout"] = min(connect_s, int(settled["connect_timeout"] or connect_s))
    return make_conninfo(**settled)


class Wire:
    def __init__(self, url: str, patience_s: float = PATIENCE_S) -> None:
        """`patience_s`: how long to wait for an answer, while connecting and later."""
        self._patience_s = patience_s
        self._expected: deque[tuple[str, str]] = deque()
        self._prepared: dict[str, bytes] = {}
        self._names = count()
        try:
            connection = psycopg.connect(connect_text(url, ceil(patience_s)), autocommit=True)
        except psycopg.Error as error:
            reason = _in_a_line(str(error))
            if _is_turned_away(reason):
                raise TurnedAwayError(reason) from error
            # libpq says first which server it is about.
            raise LostError(reason.rpartition(" failed: ")[2]) from error
        # From here on we use libpq directly: psycopg has no commands whose answers nobody waits for. The
        # connection object must release it, or it would warn when it is deleted.
        self._pg = connection.pgconn
        del connection.pgconn
        self._pg.nonblocking = 1
        self._pg.enter_pipeline_mode()
        self._poll = select.poll()
        self._poll.register(self._pg.socket, select.POLLIN)

    @property
    def server_version(self) -> int:
        return self._pg.server_version

    def ask(self, *commands: Command, then: Command | None = None) -> list[PGresult]:
        """Send the commands as one transaction and wait for their answers: one round trip.

        `then` follows as its own transaction. If only that one fails, raise LostError: we do not know whether
        the first one is durable.
        """
        try:
            encoded = _encoded(commands)
            # The server answers a bare sync at once, even if the commands behind it have to wait for a lock.
            self._pg.pipeline_sync()
            self._expected.append((_GREETING, ""))
            self._queue(encoded, _COMMAND)
            if then is not None:
                self._queue(_encoded((then,)), _SEQUEL)
            return self._receive()
        except psycopg.Error as error:
            self.close()
            raise LostError(_in_a_line(str(error))) from error
        except (ServerError, UnusableTextError):
            raise
        except BaseException:
            # Interrupted between question and answer: later answers could not be matched to questions.
            self.close()
            raise

    def post(self, *commands: Command) -> None:
        """Send the commands as one transaction without waiting. Errors of theirs are ignored."""
        try:
            self._queue(_encoded(commands), _POSTED)
            self._pg.flush()
        except psycopg.Error as error:
            raise LostError(_in_a_line(str(error))) from error

    def settle(self) -> None:
        """Wait for the answers to posted commands."""
        try:
            self._receive()
        except (psycopg.Error, LostError):
            self.close()

    @property
    def is_in_transaction(self) -> bool:
        """As of the last answer; also True while a posted command is not answered yet."""
        return self._pg.transaction_status not in (TransactionStatus.IDLE, TransactionStatus.UNKNOWN)

    @property
    def is_connected(self) -> bool:
        """As far as we know."""
        return self._pg.status == ConnStatus.OK

    def is_open(self) -> bool:
        """Is the connection still open? Notices, without a round trip, that the server has closed it."""
        if not self.is_connected:
            return False
        try:
            # The server's last message comes before the end of the connection.
            while self._poll.poll(0):
                self._pg.consume_input()
        except psycopg.Error:
            return False
        return self.is_connected

    def wait_for_notification(self, timeout_s: float) -> bool:
        """Sleep until a notification arrives, now or before the call; False if the time is up before that."""
        self._poll.modify(self._pg.socket, select.POLLIN)
        if self._drain_notifications():
            return True
        if not self._poll.poll(max(0.0, timeout_s) * 1000):
            return False
        try:
            self._pg.consume_input()
        except psycopg.Error as error:
            raise LostError(_in_a_line(str(error))) from error
        return self._drain_notifications()

    def close(self) -> None:
        self._pg.finish()

    def _queue(self, commands: list[tuple[str, list[bytes | None]]], kind: str) -> None:
        for sql, values in commands:
            name = self._prepared.get(sql)
            if name is None:
                name = self._prepared[sql] = b"lineclear_%d" % next(self._names)
                self._pg.send_prepare(name, sql.encode())
                self._expected.append((_PREPARE, sql))
            self._pg.send_query_prepared(name, values)
            self._expected.append((kind, sql))
        self._pg.pipeline_sync()
        self._expected.append((_SYNC, ""))

    def _drain_notifications(self) -> bool:
        found = False
        while self._pg.notifies() is not None:
            found = True
        return found

    def _receive(self) -> list[PGresult]:
        answers: list[PGresult] = []
        error: ServerError | None = None
        unsent = bool(self._pg.flush())
        while self._expected:
            while self._pg.is_busy():
                is_reached = (_GREETING, "") not in self._expected
                limit_s = self._patience_s if is_reached else min(self._patience_s, REACHED_WITHIN_S)
                unsent = self._wait(unsent, limit_s)
            result = self._pg.get_result()
            if result is None:
                # The end of one command's answers, or a lost connection.
                if self._pg.status != ConnStatus.OK:
                    raise LostError(self._reason())
                continue
            kind, sql = self._expected.popleft()
            found = self._error_of(result)
            if found is not None and kind == _PREPARE:
                del self._prepared[sql]
            if found is not None and not self._is_of(_POSTED, kind, sql):
                if self._is_of(_SEQUEL, kind, sql) and error is None:
                    raise LostError(f"written, but not known to be durable: {found.message}")
                error = error or found
            if kind == _COMMAND:
                answers.append(result)
        if error is not None:
            raise error
        return answers

    def _is_of(self, wanted: str, kind: str, sql: str) -> bool:
        """Is this the answer to a command of the wanted kind, or to its preparation?"""
        following = self._expected[0] if self._expected else ("", "")
        return kind == wanted or (kind == _PREPARE and following == (wanted, sql))

    def _wait(self, unsent: bool, limit_s: float) -> bool:
        self._poll.modify(self._pg.socket, select.POLLIN | (select.POLLOUT if unsent else 0))
        if not self._poll.poll(limit_s * 1000):
            raise SilentError(f"no answer within {limit_s:g} s")
        self._pg.consume_input()
        return bool(self._pg.flush()) if unsent else False

    def _error_of(self, result: PGresult) -> ServerError | None:
        if result.status in (ExecStatus.FATAL_ERROR, ExecStatus.BAD_RESPONSE):
            state = result.error_field(DiagnosticField.SQLSTATE)
            if state is None or self._pg.status != ConnStatus.OK:
                raise LostError(_in_a_line(result.get_error_message()))
            primary = result.error_field(DiagnosticField.MESSAGE_PRIMARY) or b""
            return ServerError(state.decode(), primary.decode("utf-8", "replace"))
        if result.status == ExecStatus.PIPELINE_ABORTED:
            return ServerError("", "an earlier command failed")
        return None

    def _reason(self) -> str:
        return _in_a_line(self._pg.get_error_message()) or "the connection was lost"


def _is_turned_away(message: str) -> bool:
    """False for a server that is starting, shutting down or full: it will accept us later."""
    return "FATAL:" in message and not any(words in message for words in _NOT_YET)


def _in_a_line(message: str) -> str:
    return " ".join(message.split())


def _encoded(commands: Sequence[Command]) -> list[tuple[str, list[bytes | None]]]:
    """Encode all texts before anything is queued: half a transaction must never be sent."""
    return [(sql, [_bytes_of(value) for value in parameters]) for sql, parameters in commands]


def _bytes_of(value: Parameter) -> bytes | None:
    if value is None:
        return None
    if isinstance(value, int):
        return b"%d" % value
    if "\0" in value:
        raise UnusableTextError("it contains a NUL character")
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise UnusableTextError("it contains half of a surrogate pair") from None
