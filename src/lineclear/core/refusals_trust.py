"""Refusals about trust. Words only, no decision; what the committed file says is quoted, never ours."""

from __future__ import annotations

from lineclear.core.refusals import NOT_ALLOWED, Refusal, shorten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.core.trust import Stated


def not_trusted(stated: list[Stated]) -> Refusal:
    """`stated` holds at least one."""
    first, more = stated[0], len(stated) - 1
    others = f", nor {more} more" if more else ""
    return Refusal(
        "trust.missing",
        f"{shorten(first.where, 60)} of lineclear.toml is not trusted{others}.",
        who=f'It says "{shorten(first.text, 90)}"; a person looks at it before it counts.',
        next_="lineclear trust",
        exit_code=NOT_ALLOWED,
        where=[shorten(one.where, 200) for one in stated[:20]],
        count=len(stated),
    )
