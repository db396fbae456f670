"""Which handler merges which path. Modules are loaded on first use: most files need none of them."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from typing import Protocol

    from lineclear.merge.result import Labels, MergeResult

    class Handler(Protocol):
        """Merges one kind of file. After None or `RivalChanges` (both sides want something different) the
        next rule tries."""

        def merge(
            self, path: str, base: str, left: str, right: str, labels: Labels
        ) -> MergeResult | None: ...


_LOCKS = (
    r"package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lock|Cargo\.lock|poetry\.lock|uv\.lock"
    r"|pdm\.lock|Pipfile\.lock|composer\.lock|Gemfile\.lock|gradle\.lockfile|mix\.lock|flake\.lock|packages\.lock\.json"
)
_LOGS = (
    r"(?:change(?:s|log)?|history|news|updating|upgrading|release[-_]?notes?|releases|contributors|authors)"
    r"[^/]*"
)

# (pattern of the whole path, module), in the order in which they are tried.
HANDLERS: list[tuple[re.Pattern[str], str]] = [
    (re.compile(rf"(?:.*/)?(?:{_LOCKS})"), "locks"),
    (re.compile(r"(?:.*/)?go\.(?:mod|sum)"), "go_files"),
    (
        re.compile(r"(?:.*/)?[^/]*requirements[^/]*\.(?:txt|in)|(?:.*/)?requirements/[^/]*\.(?:txt|in)"),
        "list_files",
    ),
    (re.compile(r"(?:.*/)?\.[\w-]*ignore|.*\.(?:properties|ini|cfg|env|editorconfig)"), "list_files"),
    (re.compile(rf"(?:.*/)?{_LOGS}\.(?:md|markdown)|(?:.*/)?{_LOGS}(?<!\..)", re.I), "changelogs"),
    (
        re.compile(r".*\.(?:json|jsonc|json5|webmanifest)|(?:.*/)?\.(?:eslintrc|prettierrc|babelrc)"),
        "json_files",
    ),
    (re.compile(r".*\.(?:md|markdown|mdx)", re.I), "markdown_files"),
    (re.compile(r".*\.sql", re.I), "sql_files"),
    (re.compile(r".*\.(?:css|scss|less)"), "style_files"),
    (re.compile(r".*\.toml|(?:.*/)?Pipfile"), "toml_files"),
    (re.compile(r".*\.ya?ml"), "yaml_files"),
    (re.compile(r"(?:.*/)?build\.gradle(?:\.kts)?|(?:.*/)?Gemfile"), "build_scripts"),
    (re.compile(r".*\.xml|.*\.csproj|.*\.props|.*\.targets|.*\.resx"), "xml_files"),
]


def has_handler(path: str) -> bool:
    return any(pattern.fullmatch(path) for pattern, _ in HANDLERS)


def handlers_for(path: str) -> list[Handler]:
    """The handlers for this kind of file, in the order of the table."""
    found = (name for pattern, name in HANDLERS if pattern.fullmatch(path))
    return [cast("Handler", import_module(f"lineclear.merge.handlers.{name}")) for name in found]
