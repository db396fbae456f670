"""Local names. A scope is a part of a file with names of its own; when it ends, uses of those names are
dropped, since nobody outside can mean them, and what the scope says about the types of receivers is noted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from lineclear.core.radar.facts import NAMED_REST, REST

if TYPE_CHECKING:
    from lineclear.core.radar.facts import Parameter

_WRAPPER = re.compile(
    r"(?:typing\.)?(?:Optional|Option|Box|Rc|Arc|Annotated|Final|ClassVar|InitVar|Readonly)\s*[\[<](.+)[\]>]"
)
_NOTHING = re.compile(r"\s*\|\s*(?:None|null|undefined)\b|\b(?:None|null|undefined)\s*\|\s*")
_BEFORE = re.compile(r"(?:[*&?:\\]|'\w+\s|(?:mut|dyn|impl|const|final|readonly)\s)+")
_ARGUMENTS = re.compile(r"(?s)\s*(?:\[.+\]|<.*>)$")
_NAME = re.compile(r"[\w$]+(?:(?:\.|::|\\)[\w$]+)*")


@dataclass(slots=True)
class FoundUse:
    """A use before its file is read to the end. `root_type`: the type of the receiver's first word; None
    while no scope has claimed that word."""

    name: str
    kind: str
    receiver: str
    inside: str
    row: int
    places: int
    names: tuple[str, ...]
    root_type: str | None = None


@dataclass(slots=True)
class Scope:
    """`name` and `kind` are those of the definition around it (of a block: no kind), `owner` is the type
    whose members stand here. `is_local`: what is defined here is not a definition of the file."""

    name: str = ""
    kind: str = ""
    owner: str = ""
    bases: tuple[str, ...] = ()
    is_local: bool = False
    first_use: int = 0
    result: str = ""
    names: set[str] = field(default_factory=set)
    types: dict[str, str] = field(default_factory=dict)
    outer_names: set[str] = field(default_factory=set)  # declared as not local

    def bind(self, name: str, type: str = "") -> None:
        if name in self.outer_names:
            return
        if name in self.names and self.types.get(name, "") != type:
            type = self.types.get(name, "") if not type else ""  # two types: it may be either
        self.names.add(name)
        self.types[name] = type

    def settle(self, uses: list[FoundUse]) -> None:
        """Drop the uses of local names since the scope began, and note what is known about receivers."""
        if not self.names:
            return
        kept = []
        for use in uses[self.first_use :]:
            if not use.receiver:
                if use.name in self.names:
                    continue
            elif use.root_type is None:
                root = use.receiver.partition(".")[0]
                if root in self.names:
                    use.root_type = self.types.get(root, "")
            kept.append(use)
        uses[self.first_use :] = kept


@lru_cache(maxsize=4096)
def plain_type(text: str) -> str:
    """The type of a value that is declared like this, without arguments; "" if it is not a named type."""
    text = text.strip().strip("\"'")
    text = _NOTHING.sub("", text)
    text = _BEFORE.sub("", text, count=1) if _BEFORE.match(text) else text
    wrapped = _WRAPPER.fullmatch(text)
    if wrapped:
        return plain_type(wrapped[1].partition(",")[0])
    text = _ARGUMENTS.sub("", text.rstrip("?! "))
    return text if _NAME.fullmatch(text) else ""


def type_of_parameter(parameter: Parameter) -> str:
    """The type of the local name; the name of a rest is a list or a mapping of that type."""
    return "" if parameter.kind in (REST, NAMED_REST) else plain_type(parameter.type)
