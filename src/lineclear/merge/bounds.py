"""How much of a file the merge rules read. Beyond a bound no rule is tried, and git's own conflict stays.

The bounds keep the work for one file at two to three seconds of processor time. They are sizes, not
seconds, so that every machine gives one result; the limits of `rule_jobs` are for what no bound foresees.
How deep a text may be nested is a matter of its parser: see `code/parse.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.code.parse import MAX_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lineclear.merge.lines import Chunk

MAX_PLACES = 500  # that both sides changed
# Characters of all these places together, in one version; a long line counts in full.
MAX_PLACES_SIZE = 200_000


def why_too_large(texts: Iterable[str], most: int = MAX_SIZE) -> str:
    """Why the rules do not read these versions of a file, or ""."""
    if max(map(len, texts), default=0) <= most:
        return ""
    return f"the file is larger than {most / 1_000_000:g} MB, the limit of the merge rules"


def why_too_much(places: list[Chunk], versions: Sequence[Sequence[str]]) -> str:
    """Why the rules do not try these places of base, left and right, or ""."""
    if len(places) > MAX_PLACES:
        return f"both sides changed {len(places):,} places; the merge rules try at most {MAX_PLACES}"
    for number, lines in enumerate(versions):
        spans = (place.spans()[number] for place in places)
        if sum(len(line) for first, last in spans for line in lines[first:last]) > MAX_PLACES_SIZE:
            return f"both sides changed more than {MAX_PLACES_SIZE // 1000} KB, the limit of the merge rules"
    return ""
