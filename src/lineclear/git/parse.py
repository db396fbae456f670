"""Parses git's small files: config, `.git` files, HEAD, packed-refs. No I/O."""

from __future__ import annotations

_TRUE = frozenset(("true", "yes", "on", "1"))


def config_value(text: str, section: str, key: str) -> str | None:
    """The last value of `section.key` (lower case) in one config file; "true" for a key without a value.

    Subsections count as other sections, and includes are not followed.
    """
    inside, found = False, None
    for line in text.split("\n"):
        entry = line.strip()
        if entry.startswith("["):
            header, _, rest = entry[1:].partition("]")
            inside = header.strip().lower() == section
            entry = rest.strip()
        if inside and entry and entry[0] not in "#;":
            name, equals, value = entry.partition("=")
            if _key(name) == key:
                found = _plain(value) if equals else "true"
    return found


def _key(text: str) -> str:
    """The key in lower case; a key without a value may be followed by a comment."""
    return text.partition("#")[0].partition(";")[0].strip().lower()


def _plain(value: str) -> str:
    """A value without its comment, quotes and escapes."""
    out, quoted, rest = [], False, iter(value.strip())
    for char in rest:
        if char == '"':
            quoted = not quoted
        elif char == "\\":
            escaped = next(rest, "")
            out.append({"n": "\n", "t": "\t", "b": "\b"}.get(escaped, escaped))
        elif char in "#;" and not quoted:
            break
        else:
            out.append(char)
    text = "".join(out)
    return text if quoted or value.rstrip().endswith('"') else text.rstrip()


def is_true(value: str | None) -> bool:
    return value is not None and value.lower() in _TRUE


def gitdir_target(text: str) -> str | None:
    """The path that a `.git` file points to; None if the text is not such a file."""
    head, colon, target = text.partition(":")
    if head != "gitdir" or not colon:
        return None
    return target.strip(" \t").rstrip("\r\n") or None


def symbolic_target(text: str) -> str | None:
    """The ref that a symbolic ref names; None if the text is not a symbolic ref."""
    return text[4:].strip() or None if text.startswith("ref:") else None


def is_object_id(text: str) -> bool:
    """Is this 40 (SHA-1) or 64 (SHA-256) hexadecimal digits?"""
    word = text.strip()
    return len(word) in (40, 64) and not word.strip("0123456789abcdef")


def packed_ref_exists(text: str, ref: str) -> bool:
    """Is the ref in this packed-refs file?"""
    return f" {ref}\n" in text


def packed_ref(text: str, ref: str) -> str:
    """The object id of a ref in this packed-refs file; "" if it is not listed."""
    end = text.find(f" {ref}\n")
    return text[text.rfind("\n", 0, end) + 1 : end] if end >= 0 else ""


def packed_branches(text: str) -> list[str]:
    """The branches in this packed-refs file."""
    mark = " refs/heads/"
    return [line.partition(mark)[2] for line in text.split("\n") if mark in line]
