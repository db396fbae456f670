"""A route, and what the readers of all languages share."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lineclear.code.source_text import SourceText

ANY = "ANY"  # a route for every method
VERBS = "get|post|put|patch|delete|head|options"


@dataclass(frozen=True, slots=True)
class Route:
    """`handler`: the function that answers, or its text. `is_inline`: it is defined at this place. `owner`:
    the router, class or function that it belongs to; "" if it is the program's own, so that no other
    file can add a prefix."""

    method: str
    path: str
    handler: str
    row: int
    owner: str = ""
    is_inline: bool = False


def joined(*parts: str) -> str:
    """The path of a route below prefixes."""
    steps = [part.strip("/") for part in parts if part.strip("/")]
    return "/" + "/".join(steps)


def methods_in(text: str, usual: str) -> list[str]:
    """The methods that a list in the arguments names (`methods=["GET"]`), else the usual one."""
    found = re.search(r"methods?\s*[=:]>?\s*([\[({][^\])}]*[\])}]|[\w.\"']+)", text)
    names = re.findall(rf"(?i)\b({VERBS})\b", found[1]) if found else []
    return sorted({name.upper() for name in names}) or [usual]


def owner_of(source: SourceText, place: int, receiver: str) -> str:
    """A router that another file may put below a prefix, with the function that it is in."""
    return ".".join(filter(None, [source.function_at(place), receiver]))


class Groups:
    """Variables that stand for a prefix of another router: `api := r.Group("/api")`. The pattern gives the
    variable, the router and the prefix."""

    def __init__(self, source: SourceText, pattern: re.Pattern[str]) -> None:
        self._source = source
        self._parents = {
            (source.function_at(found.start()), found[1]): (found[2], found[3])
            for found in source.find(pattern)
        }
        self.names = {name for _, name in self._parents}

    def root_of(self, name: str, place: int) -> tuple[str, str]:
        """(the router that all of them come from, the whole prefix)."""
        prefix, seen, around = "", set[str](), self._source.function_at(place)
        while (around, name) in self._parents and name not in seen:
            seen.add(name)
            name, own = self._parents[around, name]
            prefix = joined(own, prefix)
        return name, prefix
