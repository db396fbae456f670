"""Every rule that settles something can say why it may."""

from __future__ import annotations

import re
from pathlib import Path

from lineclear import merge
from lineclear.merge.rule_reasons import REASONS, why

SOURCE = Path(merge.__file__).parent


def named_in_the_source() -> set[str]:
    """Names given to results: in `rules`, as the last argument of `merge_by_key`, in rows of rules."""
    text = "\n".join(path.read_text() for path in SOURCE.rglob("*.py") if path.name != "rules.py")
    by_key = re.findall(r'merge_by_key\((?:[^()]|\([^()]*\))*?"([a-z][^"]*)",?\s*\)', text)
    rows = re.findall(r'^\s+(?:return )?\(?"([a-z][a-z -]+)", (?:text|lambda)', text, re.M)
    whole = re.findall(r'rules=\[\("file", "([^"]+)"\)\]', text)
    return {*by_key, *rows, *whole}


def test_every_rule_has_a_reason_and_every_reason_a_rule() -> None:
    named = named_in_the_source()
    assert named <= set(REASONS), named - set(REASONS)
    unseen = {"imports", "entities", "neighbouring lines", "version", "tokens", "elements"}  # made otherwise
    assert set(REASONS) - named <= unseen, set(REASONS) - named - unseen


def test_an_unknown_rule_has_no_reason() -> None:
    assert why("keys").startswith("entries by key")
    assert why("a rule of another release") == ""
