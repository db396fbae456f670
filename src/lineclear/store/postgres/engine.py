"""PostgreSQL behind the store port: one writer at a time for each repo, one round trip when all goes well.

A write is speculated (see speculation.py); after a few wrong guesses it is decided under the lock.
Reads are snapshots. The server's clock is the only clock. A commit is announced by NOTIFY outside of
its transaction and not more often than listeners can use it: inside, it would cost every other
writer its turn.
"""

from __future__ import annotations

import os
import threading
from time import monotonic, monotonic_ns

from lineclear.core import refusals
from lineclear.core.codec import decode_body
from lineclear.core.epochs import SUBJECT, begin_epoch, clock_of, last_boot
from lineclear.core.instants import Instant
from lineclear.store.postgres.failures import refusal_of
from lineclear.store.postgres.listening import PostgresListener, channel_of
from lineclear.store.postgres.schema import SCHEMA_NUMBER, check_migrations, read_schema_number
from lineclear.store.postgres.speculation import Known, LockedTx, SpeculativeTx
from lineclear.store.postgres.positions import NeedsLock
from lineclear.store.postgres.statements import BEGIN, BEGIN_READING, BEGIN_WRITING, END
from lineclear.store.postgres.view import PostgresView
from lineclear.store.postgres.wire import LostError, ServerError, UnusableTextError, Wire, show_url
