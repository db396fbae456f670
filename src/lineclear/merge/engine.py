"""Applies the rules to one file in order, and writes the rest as conflicts."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from lineclear.code.languages import language_of
from lineclear.code.parse import parse
from lineclear.merge import lines, registry, text_form
from lineclear.merge.bounds import why_too_large, why_too_much
from lineclear.merge.diff import Steps
from lineclear.merge.generated import why_generated
from lineclear.merge.handlers.keyed import RivalChanges
from lineclear.merge.hunks import Hunk, resolve, resolve_by_entities
from lineclear.merge.result import Conflict, Labels, MergeResult, Settings
from lineclear.merge.verify import MISPLACED, find_doubt

if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Node

    from lineclear.merge.entities import Members
    from lineclear.merge.lines import Chunk

    Resolve = Callable[[Hunk, Steps], tuple[str, str, Chunk] | None]


def merge_diverged(
    path: str, base: str, left: str, right: str, git_text: str | None, labels: Labels, settings: Settings
) -> MergeResult:
    """Merge two sides that differ from the base and from each other."""
    if git_text is not None and lines.has_no_new_markers(git_text, base, left, right):
        return MergeResult(git_text, rules=[("file", "git")], verdict="git")
    too_large = why_too_large((base, left, right), settings.max_bytes)
    refusal = too_large or _why_not(base, left, right) or why_generated(path, left, right)
    b, lt, r, form = text_form.separate(base, left, right)
    merge = FileMerge(path, b, lt, r, labels, _steps_for(b, lt, r, settings))
    if refusal:
        merge.is_beyond = bool(too_large)
        return _restored(merge.plain(refusal), form)
    if git_text is None and not merge.conflicting():
        return MergeResult(form.restore(merge.join({})), rules=[("file", "lines")], verdict="git")
    result = merge.by_handler() or merge.run()
    if result.is_clean:
        doubt = find_doubt(path, base, left, right, form.restore(result.text))
        if doubt.endswith(MISPLACED):
            result = merge.run(resolve_by_entities)
            if result.is_clean:
                doubt = find_doubt(path, base, left, right, form.restore(result.text))
        if doubt:
            return _restored(merge.plain(doubt), form)
        result.verdict = "verified"
    return _restored(result, form)


def _restored(result: MergeResult, form: text_form.TextForm) -> MergeResult:
    result.text = form.restore(result.text, is_clean=result.is_clean)
    return result


def _why_not(base: str, left: str, right: str) -> str:
    """Why none of our rules may touch the file, or ""."""
    texts = (base, left, right)
    if any("\0" in text for text in texts):
        return "the file is not text"
    if lines.marker_lines(left) or lines.marker_lines(right):  # a base merged from several may have them
        return "a side already contains conflict markers"
    return ""


def _steps_for(base: str, left: str, right: str, settings: Settings) -> Steps:
    return Steps(20_000 + settings.steps_per_byte * (len(base) + len(left) + len(right)))


class FileMerge:
    """The merge of one file: first by lines, then each conflicting hunk by the rules."""

    def __init__(self, path: str, base: str, left: str, right: str, labels: Labels, steps: Steps) -> None:
        self.path = path
        self.language = language_of(path)
        self.labels = labels
        self.steps = steps
        self.base = lines.split_lines(base)
        self.left = lines.split_lines(left)
        self.right = lines.split_lines(right)
        self.line_chunks = lines.three_way(self.base, self.left, self.right, steps)
        self.chunks = self.line_chunks
        self._offsets: dict[int, list[int]] = {}
        self._texts = (base, left, right)
        self._roots: dict[int, Node | None] = {}
        self.members: dict[tuple[int, str, int], Members | None] = {}
        self.import_starts: dict[int, list[int]] = {}
        self._rivals: RivalChanges | None = None
        self.is_beyond = False  # beyond a bound: no name of a symbol is worth parsing the file

    def root(self, version: int) -> Node | None:
        """The syntax tree of a version (0 base, 1 left, 2 right), parsed when a rule first needs it; None if
        there is no grammar."""
        if version not in self._roots:
            tree = parse(self.language, self._texts[version]) if self.language else None
            self._roots[version] = tree.root_node if tree else None
        return self._roots[version]

    def offset(self, version: int, line: int) -> int:
        """The offset of a line in the bytes that the parser reads."""
        if version not in self._offsets:
            sizes = (
                len(line) if line.isascii() else len(line.encode("utf-8", "surrogatepass"))
                for line in (self.base, self.left, self.right)[version]
            )
            self._offsets[version] = [0, *accumulate(sizes)]
        return self._offsets[version][line]

    def conflicting(self) -> list[Chunk]:
        return [chunk for chunk in self.chunks if chunk.kind == "conflict"]

    @staticmethod
    def merge_text(path: str, base: str, left: str, right: str) -> str | None:
        """Merge a part of a file by the rules for hunks, as if it were the whole file; None if that fails."""
        steps = Steps(20_000 + 64 * (len(base) + len(left) + len(right)))
        result = FileMerge(path, base, left, right, Labels(), steps).run()
        return result.text if result.is_clean and base else None

    def hunk(self, chunk: Chunk) -> Hunk:
        return Hunk(self, chunk)

    def by_handler(self) -> MergeResult | None:
        """The result of the first handler that can merge this file; the reason of one that could not is
        kept."""
        for handler in registry.handlers_for(self.path):
            try:
                result = handler.merge(self.path, *self._texts, self.labels)
            except RivalChanges as rivals:
                self._rivals = self._rivals or rivals
                continue
            if result is not None:
                return result
        return None

    def run(self, resolve: Resolve = resolve) -> MergeResult:
        """Apply the rules to every conflict, and write the rest with markers."""
        settled: dict[Chunk, str] = {}
        rules: list[tuple[str, str]] = []
        chunks = self.chunks = self.line_chunks
        too_much = why_too_much(self.conflicting(), (self.base, self.left, self.right))
        if too_much:
            self.is_beyond = True
            return self.plain(too_much)
        for chunk in self.conflicting():
            if any(place.overlaps(chunk) for place in settled):
                continue
            answer = resolve(self.hunk(chunk), self.steps)
            if answer is not None and not any(place.overlaps(answer[2]) for place in settled):
                rule, text, place = answer
                chunks = lines.cover(chunks, place) if place is not chunk else chunks
                settled[place] = text
                rules.append((f"lines {place.b0 + 1}-{max(place.b0 + 1, place.b1)} of the base", rule))
        self.chunks = chunks
        open_ones = [chunk for chunk in self.conflicting() if chunk not in settled]
        if not open_ones:
            return MergeResult(self.join(settled), rules=rules)
        doubt = self._doubt_beside(open_ones, settled) if settled else ""
        if doubt:
            return self.plain(doubt)
        return self.marked(settled, rules)

    def _doubt_beside(self, open_ones: list[Chunk], settled: dict[Chunk, str]) -> str:
        """The verifier's doubt about the settled places, with left's text in the open ones."""
        still_open = set(open_ones)
        parts = []
        for chunk in self.chunks:
            base, left, right = self.hunk(chunk).texts()
            parts.append((left, left, left) if chunk in still_open else (base, left, right))
        base, left, right = map("".join, zip(*parts, strict=True))
        filled = settled | {chunk: self.hunk(chunk).texts()[1] for chunk in open_ones}
        return find_doubt(self.path, base, left, right, self.join(filled))

    def plain(self, doubt: str) -> MergeResult:
        """The line merge with all its conflicts; the whole file is one conflict if it has none."""
        self.chunks = self.line_chunks
        result = self.marked({}, [], doubt)
        if result.is_clean:
            whole = lines.write_conflict(self.left, self.right, self.labels, "")
            result = MergeResult("".join(whole), [Conflict(1, len(whole), doubt=doubt)])
        result.verdict = doubt
        return result

    def join(self, settled: dict[Chunk, str]) -> str:
        return "".join(self._settled_text(chunk, settled) for chunk in self.chunks)

    def _settled_text(self, chunk: Chunk, settled: dict[Chunk, str]) -> str:
        if chunk.kind == "conflict":
            return settled[chunk]
        if chunk.kind == "right":
            return "".join(self.right[chunk.r0 : chunk.r1])
        return "".join(self.left[chunk.l0 : chunk.l1])

    def marked(self, settled: dict[Chunk, str], rules: list[tuple[str, str]], doubt: str = "") -> MergeResult:
        out: list[str] = []
        conflicts: list[Conflict] = []
        reasons = {} if doubt else self._handlers_reason(settled)
        line = 1
        for chunk in self.chunks:
            if chunk.kind != "conflict" or chunk in settled:
                text = self._settled_text(chunk, settled)
                out.append(text)
                line += text.count("\n")
                continue
            hunk = self.hunk(chunk)
            head, tail = lines.trim_common(hunk.left_lines, hunk.right_lines)
            ours = hunk.left_lines[head : len(hunk.left_lines) - tail]
            theirs = hunk.right_lines[head : len(hunk.right_lines) - tail]
            symbols = [] if self.is_beyond else hunk.symbols()
            body = lines.write_conflict(ours, theirs, self.labels, ", ".join(symbols[:3]))
            ending = hunk.left_lines[len(hunk.left_lines) - tail :] if tail else []
            out += [*hunk.left_lines[:head], *body, *ending]
            first = line + head
            reason = doubt or reasons.get(chunk) or hunk.reason()
            conflicts.append(Conflict(first, first + len(body) - 1, hunk.kind(), symbols, reason))
            line = first + len(body) + tail
        return MergeResult("".join(out), conflicts, rules, doubt or (conflicts[0].doubt if conflicts else ""))

    def _handlers_reason(self, settled: dict[Chunk, str]) -> dict[Chunk, str]:
        """The handler's reason, for the one conflict that it is about: the only one, or the only one whose
        lines contain its key."""
        rivals = self._rivals
        if rivals is None:
            return {}
        found = [chunk for chunk in self.conflicting() if chunk not in settled]
        if len(found) > 1:
            found = [
                chunk
                for chunk in found
                if rivals.key and any(rivals.key in text for text in self.hunk(chunk).texts())
            ]
        return {found[0]: rivals.reason} if len(found) == 1 else {}
