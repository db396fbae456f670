"""Operation ids: a command that carries one has a single effect, however often it is sent."""

from __future__ import annotations

from itertools import chain

from lineclear.core.log.queries import by_index
from lineclear.core.log.tables import OPERATION, Operation
from lineclear.core.words.refusals import refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from lineclear.app.ports import Caller, Store, Tx, View
    from lineclear.core.log.queries import Question

_OLDEST = by_index(OPERATION, "age", limit=3)


def once(
    store: Store,
    caller: Caller,
    verb: str,
    arguments: dict[str, Any],
    work: Callable[[Tx], dict[str, Any]],
    still_valid: Callable[[View, Caller, dict[str, Any]], bool] | None = None,
    near: Iterable[Question] = (),
) -> dict[str, Any]:
    """Run `work` in a transaction. With an operation id, answer a repeat from the stored answer.

    The answer is stored in the same transaction as the effect. A refusal rolls back and stores nothing, so
    the command may be sent again. The same id with other arguments is refused. `near`: the questions that
    `work` will ask, to prefetch.
    """
    if not caller.op:
        return store.transact(caller, work, near)
    from lineclear.core.json_text import digest

    mark = digest({"verb": verb, "agent": caller.name, "arguments": arguments})

    def guarded(tx: Tx) -> dict[str, Any]:
        known = tx.get(OPERATION, (caller.op,))
        if known is not None and known.at_ns >= _kept_since(tx, caller):
            return _replay(tx, caller, known, mark, still_valid)
        result = work(tx)
        if "ticket" not in result:  # a place in line is not yet the effect that was asked for
            _remember(tx, caller, mark, result)
        return result

    return store.transact(caller, guarded, chain(near, (_OLDEST,)))


def _replay(
    tx: Tx,
    caller: Caller,
    known: Operation,
    mark: str,
    still_valid: Callable[[View, Caller, dict[str, Any]], bool] | None,
) -> dict[str, Any]:
    from lineclear.core.log.codec import decode_body

    if known.digest != mark:
        raise refuse("operation.differs", key=caller.op)
    result = decode_body(known.result)
    result["replayed"] = True
    if still_valid is not None:
        result["still_valid"] = still_valid(tx, caller, result)
    return result


def _remember(tx: Tx, caller: Caller, mark: str, result: dict[str, Any]) -> None:
    from lineclear.core.log.codec import encode_body

    # Every write drops a few answers that are too old.
    for old in tx.scan(OPERATION, "age", limit=_OLDEST.limit):
        if old.at_ns < _kept_since(tx, caller):
            tx.delete(OPERATION, (old.key,))
    tx.put(OPERATION, Operation(caller.op, mark, encode_body(result), tx.now.wall_ns, tx.head))


def _kept_since(tx: Tx, caller: Caller) -> int:
    return tx.now.wall_ns - caller.keep_ms * 1_000_000
