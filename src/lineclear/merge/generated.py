"""Conflicts in generated files: no rule settles them, since their program has to be run again on the merged
sources. Lock files have their own handler.
"""

from __future__ import annotations

from lineclear.code.generated import says_it_is_generated, what_regenerates
from lineclear.merge.registry import has_handler


def why_generated(path: str, left: str, right: str) -> str:
    """Says that the file is generated and what to do; "" for a file that people write."""
    action = what_regenerates(path)
    if action:
        return f"{path.rpartition('/')[2]} is generated: merge what it is made from, then {action}"
    if not has_handler(path) and says_it_is_generated(left) and says_it_is_generated(right):
        return "the file says that it is generated: merge what it is made from, then run its generator again"
    return ""
