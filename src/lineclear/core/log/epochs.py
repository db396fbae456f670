"""Epochs: a new one begins when a store's clock restarts or its newest events may be missing.

After a power loss a disk that lied, or a promoted replica, may lack the last commits. Positions
therefore jump ahead at each epoch, so that no fence is ever handed out twice.
"""

from __future__ import annotations

from lineclear.core.claims.leases import claim_expired
from lineclear.core.log.events import Draft
from lineclear.core.log.tables import CLAIM, LOG, TASK, WAIT
from lineclear.core.tasks.states import TAKEN, give_back

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EPOCH_STEP = 100_000
# A backup can lack more events than a power loss takes: its epoch begins further ahead.
RESTORED_STEPS = 10
SUBJECT = "epoch"


def last_boot(view: Any) -> str | None:
    """The boot id of the newest epoch in the log; None if the log is empty."""
    newest = view.scan(LOG, "subject", (SUBJECT,), reverse=True, limit=1)
    if not newest:
        return None
    from lineclear.core.log.codec import decode_body

    boot: str = decode_body(newest[0].body)["boot"]
    return boot


def clock_of(boot: str) -> str:
    """The clock of a boot id: `postgres/2` and `postgres/3` share one, each boot of a host has its own."""
    return boot.partition("/")[0]


def begin_epoch(tx: Any, *, is_restored: bool = False) -> None:
    """Append `EpochBegan` if the store's boot id is new, and end the leases that its clock cannot judge.

    `is_restored`: the store was restored from a backup, so a new epoch begins even on the same boot.
    """
    before = last_boot(tx)
    if before == tx.now.boot and not is_restored:
        return
    if before is not None:
        # Jump at least one whole step, even if the log ends just before a multiple of it.
        steps = RESTORED_STEPS if is_restored else 2
        tx.head = (tx.head // EPOCH_STEP + steps) * EPOCH_STEP
    tx.append(Draft("EpochBegan", SUBJECT, boot=tx.now.boot))
    if before is not None and (is_restored or clock_of(before) != clock_of(tx.now.boot)):
        _end_leases(tx)


def _end_leases(tx: Any) -> None:
    for claim in tx.scan(CLAIM, "key"):
        tx.append(claim_expired(claim))
    for wait in tx.scan(WAIT, "key"):
        tx.append(Draft("WaitEnded", f"wait:{wait.ticket}", ticket=wait.ticket, why="gone"))
    for task in tx.scan(TASK, "ready", (TAKEN,)):
        tx.append(give_back(task, "the machine restarted"))
