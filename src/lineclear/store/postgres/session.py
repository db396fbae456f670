"""A connection to one repo's store: with the schema checked, limits set, and the server's time known."""

from __future__ import annotations

from time import monotonic_ns
from typing import TYPE_CHECKING

from lineclear.core.instants import Instant
from lineclear.core.log.codec import decode_body
from lineclear.core.log.epochs import SUBJECT
from lineclear.core.words.refusals import refuse
from lineclear.store.postgres.failures import LOCK_LIMIT_S
from lineclear.store.postgres.schema import check_number
from lineclear.store.postgres.statements import BEGIN_WRITING
from lineclear.store.postgres.wire import PATIENCE_S, ServerError, Wire, show_url

if TYPE_CHECKING:
    from psycopg.pq.abc import PGresult

    from lineclear.store.postgres.wire import Command

_SCHEMA = 'SELECT coalesce(max("number"), 0) FROM "migration"'
_HELLO = f"""SELECT
r."head",
(extract(epoch FROM clock_timestamp()) * 1000000000)::bigint,
lineclear_history(),
(SELECT "body" FROM "log" WHERE "repo" = $1 AND "subject" = '{SUBJECT}' ORDER BY "position" DESC LIMIT 1)
FROM (VALUES (1)) AS always LEFT JOIN "repo" r ON r."repo" = $1"""

# All our statements are lookups by index, so one plan serves all values. But a plan depends on the size of
# the tables: we plan again after this many events, sooner in a short log.
_REPLAN_LEAST, _REPLAN_MOST = 64, 1_000
_FRESH_NS = 100_000_000
_SETTINGS = {
    "default_transaction_isolation": "read committed",
    "lock_timeout": f"{LOCK_LIMIT_S}s",
    "idle_in_transaction_session_timeout": "60s",
    # A machine that falls silent answers neither: the server then drops all its sessions at once, also those
    # that wait for the lock. Otherwise each of them in turn would get it, and keep it until its limit.
    "tcp_keepalives_idle": "3",
    "tcp_keepalives_interval": "1",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "6s",
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "jit": "off",
    "client_min_messages": "error",
}
_SET = (
    "SELECT "
    + ", ".join(f"set_config('{name}', '{value}', false)" for name, value in _SETTINGS.items())
    # What we acknowledge must be durable, whatever the server's default is.
    + ", set_config('synchronous_commit', 'on', false) FROM (VALUES (1)) AS always"
)
# Not every server has this setting.
_SET_IF_KNOWN = "SELECT set_config('client_connection_check_interval', '1s', false)"
# A client that is stopped while it sends a transaction or holds the lock must not keep others waiting for
# ever. A long read may take its time.
_HAS_TRANSACTION_TIMEOUT = 170_000
_LIMIT = "SELECT set_config('transaction_timeout', '60s', false)"
_LIMIT_HOLDER = "SELECT set_config('idle_in_transaction_session_timeout', '10s', true)"
_LIFT_LIMIT = "SELECT set_config('transaction_timeout', '0', true)"


class PostgresSession:
    def __init__(self, url: str, repo: str, clock_name: str, patience_s: float = PATIENCE_S) -> None:
        """`epoch` is the boot of the log's newest epoch, `head` the newest known position."""
        self.url, self.round_trips = url, 0
        self.wire = Wire(url, patience_s)
        try:
            head, now_ns, history, epoch = self._greet(repo)
        except BaseException:
            self.wire.close()
            raise
        self.boot = f"{clock_name}/{history}"
        self.epoch: str | None = decode_body(epoch)["boot"] if epoch else None
        self.head = self._replan_at = int(head)
        self._plan_until()
        self.note_answer(int(head), int(now_ns))

    def is_usable(self) -> bool:
        """Is the connection open, as far as we can tell without a round trip?"""
        return self.wire.is_connected if self.is_fresh() else self.wire.is_open()

    def is_fresh(self) -> bool:
        """Did the server answer just now?"""
        return monotonic_ns() - self._heard_ns < _FRESH_NS

    def ask(self, *commands: Command, then: Command | None = None) -> list[PGresult]:
        self.round_trips += 1
        return self.wire.ask(*commands, then=then)

    def begin(self, mode: str, *commands: Command) -> list[PGresult]:
        """Open a transaction that lasts longer than this round trip. Return the answers to the commands."""
        limits = [(_LIMIT_HOLDER, ())] if mode == BEGIN_WRITING else []
        if self._has_transaction_timeout():
            limits.append((_LIFT_LIMIT, ()))
        return self.ask((mode, ()), *limits, *commands)[1 + len(limits) :]

    def _has_transaction_timeout(self) -> bool:
        return self.wire.server_version >= _HAS_TRANSACTION_TIMEOUT

    def note_answer(self, head: int, now_ns: int) -> None:
        """Note the head and the time that the server has just reported."""
        self.head, self._server_ns, self._heard_ns = head, now_ns, monotonic_ns()
        if head >= self._replan_at:
            self.wire.post(("DISCARD PLANS", ()))
            self._plan_until()

    def _plan_until(self) -> None:
        self._replan_at = self.head + min(max(self.head, _REPLAN_LEAST), _REPLAN_MOST)

    def server_now(self) -> Instant:
        """The server's time at its last answer."""
        return Instant(self._server_ns, self.boot, self._server_ns)

    def _greet(self, repo: str) -> list[str]:
        self.wire.post((_SET_IF_KNOWN, ()))
        if self._has_transaction_timeout():
            self.wire.post((_LIMIT, ()))
        try:
            _, schema, hello = self.ask((_SET, ()), (_SCHEMA, ()), (_HELLO, (repo,)))
        except ServerError:
            # With an older schema these queries themselves may fail; then its number is the reason.
            check_number(int(text_of(self.ask((_SCHEMA, ()))[0])), show_url(self.url))
            raise
        check_number(int(text_of(schema)), show_url(self.url))
        if hello.get_value(0, 0) is None:
            raise refuse("store.missing", path=show_url(self.url))
        return [text_of(hello, column) for column in range(4)]


def text_of(result: PGresult, column: int = 0) -> str:
    """A cell of the first row; "" for null."""
    return (result.get_value(0, column) or b"").decode()
