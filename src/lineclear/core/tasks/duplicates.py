"""Finds tasks that may be duplicates, by the words of their titles. The author of the task decides."""

from __future__ import annotations

# Words of nearly every task: two tasks that share only these have nothing in common.
COMMON_WORDS = frozenset((
    "a", "add", "all", "an", "and", "as", "at", "be", "by", "change", "create", "do", "fix", "for", "from",
    "get", "in", "into", "is", "it", "make", "new", "no", "not", "of", "on", "or", "our", "out", "remove",
    "set", "so", "that", "the", "their", "then", "this", "to", "up", "update", "use", "we", "when", "with",
))  # fmt: skip
MOST_WORDS = 64
# Two titles are similar if they share at least this many telling words, and this part of the shorter one.
LEAST_SHARED, LEAST_SHARED_PERCENT = 3, 60
# A word that is in more titles than this is ignored, which bounds the work for long lists.
MOST_TITLES_OF_A_WORD = 50


def telling_words(text: str) -> str:
    """The words that say what a text is about, each once, in order."""
    words = "".join(ch if ch.isalnum() else " " for ch in text.lower()).split()
    telling = [word for word in dict.fromkeys(words) if word not in COMMON_WORDS]
    return " ".join(telling[:MOST_WORDS])


def likely_twins(new: list[tuple[int, str]], known: list[tuple[int, str]]) -> list[tuple[int, int]]:
    """(new task, the earlier task that is most like it), for titles that are similar.

    `new` and `known` hold (number, title); a new one is compared with the known and with earlier new ones.
    """
    by_word: dict[str, list[int]] = {}
    by_title: dict[str, int] = {}
    words_of: dict[int, list[str]] = {}
    twins = []
    for place, (number, title) in enumerate([*known, *new]):
        words = telling_words(title).split()
        if place >= len(known):
            twin = by_title.get(title, 0) or _closest(words, by_word, words_of)
            twins += [(number, twin)] if twin else []
        by_title.setdefault(title, number)
        words_of[number] = words
        for word in words:
            by_word.setdefault(word, []).append(number)
    return twins


def _closest(words: list[str], by_word: dict[str, list[int]], words_of: dict[int, list[str]]) -> int:
    shared: dict[int, int] = {}
    for word in words:
        having = by_word.get(word, ())
        for number in having if len(having) <= MOST_TITLES_OF_A_WORD else ():
            shared[number] = shared.get(number, 0) + 1
    best = max(shared, key=lambda number: (shared[number], -number), default=0)
    least = min(len(words), len(words_of[best])) * LEAST_SHARED_PERCENT if best else 0
    return best if best and shared[best] >= LEAST_SHARED and shared[best] * 100 >= least else 0
