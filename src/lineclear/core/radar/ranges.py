"""Do two version ranges for one package have no version in common?"""

from __future__ import annotations

from lineclear.core.version_ranges import in_common, spans_of


def exclude_each_other(ecosystem: str, left: str, right: str) -> bool:
    """True only if no version fits both. Go takes the higher of two versions, so there nothing excludes."""
    if ecosystem == "pypi":
        (left, when), (right, then) = _without_marker(left), _without_marker(right)
        if when and then and when != then:
            return False  # the markers may exclude each other
    ours, theirs = spans_of(ecosystem, left), spans_of(ecosystem, right)
    return bool(ours) and bool(theirs) and not in_common(ours or [], theirs or [])


def _without_marker(text: str) -> tuple[str, str]:
    """(range, marker) of a requirement's text behind its name and extras."""
    text, _, marker = text.partition(";")
    text = text.strip()
    if text.startswith("["):
        text = text.partition("]")[2].strip()
    return text.removeprefix("(").removesuffix(")"), "".join(marker.split()).replace("'", '"')
