"""Is this task already there? Words can only shortlist; whoever adds the task decides."""

from __future__ import annotations

# Words that nearly every task has; a task that shares only these shares nothing.
COMMON_WORDS = frozenset((
    "a", "add", "all", "an", "and", "as", "at", "be", "by", "change", "create", "do", "fix", "for", "from",
    "get", "in", "into", "is", "it", "make", "new", "no", "not", "of", "on", "or", "our", "out", "remove",
    "set", "so", "that", "the", "their", "then", "this", "to", "up", "update", "use", "we", "when", "with",
))  # fmt: skip
MOST_WORDS = 64


def telling_words(text: str) -> str:
    """The words of a text that say what it is about, each once, in order."""
    words = "".join(ch if ch.isalnum() else " " for ch in text.lower()).split()
    telling = [word for word in dict.fromkeys(words) if word not in COMMON_WORDS]
    return " ".join(telling[:MOST_WORDS])
