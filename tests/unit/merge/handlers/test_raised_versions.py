"""A family of packages raised by one side, one more of it added by the other."""

from __future__ import annotations

from lineclear.merge import merge_texts

HEAD = "[dependencies]\n"


def crate(name: str, version: str) -> str:
    return f'{name} = {{ path = "../{name}", version = "{version}" }}\n'


def manifest(*crates: str) -> str:
    return HEAD + "".join(crates)


BASE = manifest(crate("nu-engine", "0.86.0"), crate("nu-path", "0.86.0"))
RAISED = BASE.replace("0.86.0", "0.86.1")


def both_ways(base: str, left: str, right: str) -> str:
    there, back = merge_texts("Cargo.toml", base, left, right), merge_texts("Cargo.toml", base, right, left)
    assert there.is_clean, there.verdict
    assert there.text == back.text
    return there.text


def test_the_new_one_is_raised_with_its_family() -> None:
    left = manifest(crate("nu-engine", "0.86.0"), crate("nu-glob", "0.86.0"), crate("nu-path", "0.86.0"))
    assert both_ways(BASE, left, RAISED) == left.replace("0.86.0", "0.86.1")


def test_another_family_keeps_its_version() -> None:
    left = manifest(crate("nu-engine", "0.86.0"), crate("miette", "0.86.0"), crate("nu-path", "0.86.0"))
    assert 'miette = { path = "../miette", version = "0.86.0" }' in both_ways(BASE, left, RAISED)


def test_a_family_that_moved_only_in_part_raises_nobody() -> None:
    base = BASE + crate("nu-utils", "0.86.0")
    raised = RAISED + crate("nu-utils", "0.86.0")
    left = base.replace(crate("nu-path", "0.86.0"), crate("nu-glob", "0.86.0") + crate("nu-path", "0.86.0"))
    assert crate("nu-glob", "0.86.0") in both_ways(base, left, raised)
