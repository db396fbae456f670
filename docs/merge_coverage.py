"""The parts of docs/reference/merging.md: what merging knows of languages and kinds of file."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from lineclear.code.languages import LANGUAGES, language_named, language_of
from lineclear.merge.registry import HANDLERS, handlers_for
from lineclear.merge.rule_reasons import REASONS

CASES = Path(__file__).resolve().parents[1] / "tests" / "merge_cases"
PATHS = {"ignore-list": ".gitignore", "python": "shop.py"}


def parts() -> list[str]:
    """Markdown: languages, handlers, rules."""
    return [
        "## Languages\n\nEvery result is parsed; what does not parse although its sources did is a conflict.",
        _table(
            ("language", "files", "imports as a set", "order-free places", "cases", "of them conflicts"),
            [_language(name) for name in LANGUAGES],
        ),
        "## Kinds of file with a handler of their own",
        _table(("handler", "what it does", "cases", "of them conflicts"), _handlers()),
        "## Rules\n\nWhat `--explain` names, and why each may settle a place.",
        _table(("rule", "why"), [(f"`{name}`", reason) for name, reason in REASONS.items()]),
    ]


def _language(name: str) -> tuple[str, ...]:
    language = language_named(name)
    places = ", ".join(f"`{parent}`" for parent in language.members)
    endings = ", ".join(f"`{ending}`" for ending in LANGUAGES[name][1])
    kinds = [kind for kind in _kinds() if language_of(PATHS.get(kind, kind)) is language]
    return name, endings, "yes" if language.import_line else "", places, *_counted(kinds)


def _handlers() -> list[tuple[str, ...]]:
    rows = []
    for module in dict.fromkeys(name for _, name in HANDLERS):
        text = import_module(f"lineclear.merge.handlers.{module}").__doc__ or ""
        kinds = [kind for kind in _kinds() if _handler_of(PATHS.get(kind, kind)) == module]
        rows.append((f"`{module}`", _first_sentence(text), *_counted(kinds)))
    return rows


def _first_sentence(text: str) -> str:
    joined = " ".join(text.strip().partition("\n\n")[0].split())
    return joined.partition(". ")[0].removesuffix(".")


def _handler_of(path: str) -> str:
    names = [str(getattr(handler, "__name__", "")).rpartition(".")[2] for handler in handlers_for(path)]
    return names[0] if names else ""


def _kinds() -> list[str]:
    return sorted(path.name for path in CASES.iterdir() if path.is_dir())


def _counted(kinds: list[str]) -> tuple[str, str]:
    found = [case for kind in kinds for case in (CASES / kind).iterdir()]
    return str(len(found)), str(sum((case / "conflict").exists() for case in found))


def _table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [heads, tuple("---" for _ in heads), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
