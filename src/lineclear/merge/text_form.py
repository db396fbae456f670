"""The byte order mark, line ends and final newline of a text. Each is merged separately from the lines.

So a side that only converted line ends does not conflict with a side that edited.
"""

from __future__ import annotations

from dataclasses import dataclass

BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class TextForm:
    """The form that the merged text gets back."""

    bom: bool
    line_end: str
    final_newline: bool

    def restore(self, text: str, *, is_clean: bool = True) -> str:
        """The text in this form. In a conflict the last marker keeps its newline: git expects whole lines."""
        if is_clean and not self.final_newline and text.endswith("\n"):
            text = text[:-1]
        if self.line_end == "\r\n":
            text = text.replace("\n", "\r\n")
        return BOM + text if self.bom else text


def separate(base: str, left: str, right: str) -> tuple[str, str, str, TextForm]:
    """The three texts with plain line ends and a final newline, and the form of the result."""
    texts = [base, left, right]
    added = not base
    bom = _pick([text.startswith(BOM) for text in texts], added)
    texts = [text.removeprefix(BOM) for text in texts]
    ends = [_line_end(text) for text in texts]
    line_end = "\n"
    if all(end is not None for end in ends) and "\r\n" in ends:
        line_end = "\r\n" if _pick([end == "\r\n" for end in ends], added) else "\n"
        texts = [text.replace("\r\n", "\n") for text in texts]
    final = _pick([text.endswith("\n") for text in texts], added)
    texts = [text if text.endswith("\n") or not text else text + "\n" for text in texts]
    return texts[0], texts[1], texts[2], TextForm(bom, line_end, final)


def _pick(answers: list[bool], added: bool) -> bool:
    """Three-way choice of a yes or no; without a base, one yes is enough."""
    base, left, right = answers
    if added:
        return left or right
    return right if left == base else left


def _line_end(text: str) -> str | None:
    """The line end of the text, or None if it mixes them."""
    pairs = text.count("\r\n")
    if pairs == 0:
        return "\n"
    return "\r\n" if pairs == text.count("\n") and pairs == text.count("\r") else None
