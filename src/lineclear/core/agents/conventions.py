"""The block in AGENTS.md that tells agents how to work here: its text, and how it gets in and out of a file.

Its text is made from the repository's strategies. The block stands between two marks and carries a hash of
itself, so that an edit by hand is noticed. Pure: texts in, texts out. Not for the hook's path.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from lineclear.core.claims.strategies import LOCKED, READ_ONLY, SINGLE_WRITER
from lineclear.core.queue.phases import BINDABLE
from lineclear.core.words.agent_rules import WHEN_REFUSED, editing_rules
from lineclear.core.words.refusals import refuse, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lineclear.core.claims.strategies import Rule

AGENTS_FILE = "AGENTS.md"
POINTER = "@AGENTS.md"
COMMAND = "lineclear setup conventions"
MOST_RESOURCES = 25

MISSING, CURRENT, OUTDATED, EDITED, BROKEN = "missing", "current", "outdated", "edited", "broken"

_BEGIN = re.compile(r"<!-- lineclear:begin hash=([0-9a-f]{16}) before=([0-9]) made=([01]) [^\n]*-->\n")
_END = "<!-- lineclear:end -->"
_ANY_MARK = re.compile(r"^<!-- lineclear:(?:begin|end)\b", re.MULTILINE)
_POINTED = re.compile(r"^@(?:\./)?AGENTS\.md\s*$", re.MULTILINE)
_HINT = "made by `lineclear setup conventions`; write outside of the marks"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConventionFacts:
    """The facts that the block states. `gate` is the check before landing, "" if there is none."""

    rules: tuple[Rule, ...] = ()
    gate: str = ""
    task_page: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConventionChange:
    """A planned change of one file. `text` is its new content, None if the file is to be deleted."""

    path: str
    state: str
    text: str | None
    is_needed: bool
    what: str = ""


# -- the words --------------------------------------------------------------------------------


def write_conventions(facts: ConventionFacts) -> str:
    """The text of the block, without its marks."""
    lines = [
        "## Working beside other agents (lineclear)",
        "",
        "Other agents change this repository at the same time. Run `lineclear` to see who does what.",
        "",
        "- Start: take a task with `lineclear task next`. Work only on that task.",
        *(f"- {rule}" for rule in (*editing_rules(), WHEN_REFUSED)),
        "- Do not fix a build or test error in a file you did not touch: run "
        "`lineclear who PATH`. If somebody holds it, tell them with `lineclear say --to NAME TEXT` and "
        "continue with your own part; if nobody does, run `lineclear task add TITLE`.",
        *_special_lines(facts.rules),
        "- Stay in your own worktree. Never edit files in the worktree of another agent.",
        *_finish_lines(facts),
    ]
    if facts.task_page:
        lines.append(f"- Without a shell: read and edit `{facts.task_page}`; its first lines explain how.")
    return "".join(line + "\n" for line in lines)


def _special_lines(rules: tuple[Rule, ...]) -> list[str]:
    lines = []
    for strategy, words in (
        (LOCKED, "Locked; before you change one of these, run `lineclear claim PATH --wait 10m`"),
        (
            SINGLE_WRITER,
            "One writer each; unless that is you, run `lineclear propose PATH --file NEWFILE` instead",
        ),
        (READ_ONLY, "Read-only; never change these"),
    ):
        shown = _first_resources(rule for rule in rules if rule.strategy == strategy and not rule.phase)
        shown += ["images, archives and other binary files"] if strategy == LOCKED else []
        lines += [f"- {words}: {', '.join(shown)}."] if shown else []
    for phase in BINDABLE:
        shown = _first_resources(rule for rule in rules if rule.phase == phase)
        words = f"Written only in the {phase} phase (see `lineclear phase`); before that, do not change "
        words += "these, not even on your branch: write the new file outside the repository and run "
        words += "`lineclear propose PATH --file NEWFILE`"
        lines += [f"- {words}: {', '.join(shown)}."] if shown else []
    return lines


def _first_resources(rules: Iterable[Rule]) -> list[str]:
    names = [_resource(rule) for rule in rules]
    more = len(names) - MOST_RESOURCES
    return names[:MOST_RESOURCES] + ([f"{more} more"] if more > 0 else [])


def _resource(rule: Rule) -> str:
    name = shorten(rule.resource.text.removeprefix("file:"), 120).replace("`", "'")
    return f"`{name}` (written by {rule.owner})" if rule.owner else f"`{name}`"


def _finish_lines(facts: ConventionFacts) -> list[str]:
    gate = f" `{shorten(facts.gate, 200)}` must pass." if facts.gate and "`" not in facts.gate else ""
    return [
        f"- Finish: commit everything on your branch.{gate} Then run `lineclear land --task T-N`, unless "
        "lineclear lands your work for you. Never push or merge to main yourself.",
        "- When it has landed, release your claims: `lineclear release --all`.",
    ]


# -- the block in a file ----------------------------------------------------------------------


def state_of(text: str | None, body: str) -> str:
    """Whether a file has the block, and whether the block says `body`."""
    if text is None:
        return MISSING
    found = _find(_plain(text))
    if found is None:
        return BROKEN if _ANY_MARK.search(_plain(text)) else MISSING
    begin, inside, _, _ = found
    if _hash(inside) != begin[1]:
        return EDITED
    return CURRENT if inside == body else OUTDATED


def plan_block(path: str, text: str | None, body: str, *, force: bool = False) -> ConventionChange:
    """Add the block or update it; everything outside it stays byte for byte."""
    state = state_of(text, body)
    if state == BROKEN:
        raise refuse("conventions.broken", path=path, why=_fault(text or ""))
    if state == EDITED and not force:
        raise refuse("conventions.edited", path=path, command=f"{COMMAND} --force")
    if state == CURRENT:
        return ConventionChange(path=path, state=state, text=text, is_needed=False)
    if text is None:
        new, what = _block(body, before=0, made=1), "create it with the block"
    elif state == MISSING:
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        ends = "\r\n" if "\r\n" in text else "\n"
        new = text + (gap + _block(body, before=len(gap), made=0)).replace("\n", ends)
        what = "add the block at the end"
    else:
        new, what = _replaced(text, body), "update the block"
    return ConventionChange(path=path, state=state, text=new, is_needed=True, what=what)


def plan_pointer(path: str, text: str | None, *, force: bool = False) -> ConventionChange:
    """Make a client's own file point to AGENTS.md; a file that already does is left unchanged."""
    if text is not None and state_of(text, POINTER + "\n") == MISSING and _POINTED.search(_plain(text)):
        return ConventionChange(path=path, state=CURRENT, text=text, is_needed=False)
    return plan_block(path, text, POINTER + "\n", force=force)


def plan_removal(path: str, text: str | None, *, force: bool = False) -> ConventionChange:
    """Remove exactly what was added; delete the file if we created it and nothing else is in it."""
    state = state_of(text, "")
    if text is None or state == MISSING:
        return ConventionChange(path=path, state=MISSING, text=text, is_needed=False)
    if state == BROKEN:
        raise refuse("conventions.broken", path=path, why=_fault(text))
    if state == EDITED and not force:
        raise refuse("conventions.edited", path=path, command=f"{COMMAND} --remove --force")
    found = _find(_plain(text))
    if found is None:
        raise RuntimeError("a block that was found is not there")
    begin, _, start, end = found
    head, tail = _cut(text, start, end)
    for _ in range(int(begin[2])):
        head = head.removesuffix("\r\n") if head.endswith("\r\n") else head.removesuffix("\n")
    left = head + tail
    is_gone = begin[3] == "1" and not left.strip()
    what = "remove it" if is_gone else "take the block out"
    return ConventionChange(path=path, state=state, text=None if is_gone else left, is_needed=True, what=what)


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n")


def _hash(body: str) -> str:
    return sha256(body.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _block(body: str, *, before: int, made: int) -> str:
    return f"<!-- lineclear:begin hash={_hash(body)} before={before} made={made} {_HINT} -->\n{body}{_END}\n"


def _find(plain: str) -> tuple[re.Match[str], str, int, int] | None:
    """(begin mark, text inside, start, end) of the block; None unless there is exactly one."""
    begin = _BEGIN.search(plain)
    if begin is None or len(_ANY_MARK.findall(plain)) != 2:
        return None
    at = plain.find(_END, begin.end())
    if at < 0 or (begin.start() and plain[begin.start() - 1] != "\n") or plain[at - 1] != "\n":
        return None
    end = at + len(_END)
    end += 1 if plain[end : end + 1] == "\n" else 0
    return begin, plain[begin.end() : at], begin.start(), end


def _fault(text: str) -> str:
    count = len(_ANY_MARK.findall(_plain(text)))
    return "it has one mark of lineclear's block, not two" if count == 1 else "its marks are out of order"


def _replaced(text: str, body: str) -> str:
    found = _find(_plain(text))
    if found is None:
        raise RuntimeError("a block that was found is not there")
    begin, _, start, end = found
    head, tail = _cut(text, start, end)
    block = _block(body, before=int(begin[2]), made=int(begin[3]))
    return head + (block.replace("\n", "\r\n") if "\r\n" in text else block) + tail


def _cut(text: str, start: int, end: int) -> tuple[str, str]:
    """The text before `start` and after `end`, which were counted with plain line ends."""
    return text[: _place(text, start)], text[_place(text, end) :]


def _place(text: str, plain_at: int) -> int:
    """The offset in the text itself of an offset that was counted with plain line ends."""
    at = 0
    for _ in range(plain_at):
        at += 2 if text.startswith("\r\n", at) else 1
    return at
