"""Read the facts of files: known ones from the cache, the rest once each, where a parser may crash."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from lineclear.code.migrations import is_migration
from lineclear.core.radar.facts import NOT_READ
from lineclear.merge.rule_jobs import FactsJob, RuleFailure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lineclear.app.queue.merge_trees import MergeRules
    from lineclear.app.radar.ports import FactsCache, RadarGit
    from lineclear.core.radar.facts import FileFacts

# Files in these languages mean the same in every place. All others (manifests, settings, migrations) may
# mean something because of their path.
_ANYWHERE = frozenset((
    ".c", ".cc", ".cjs", ".cpp", ".cs", ".css", ".cts", ".go", ".h", ".hpp", ".java", ".js", ".jsx", ".kt",
    ".kts", ".less", ".mjs", ".mts", ".php", ".py", ".pyi", ".rb", ".rs", ".scss", ".ts", ".tsx",
))  # fmt: skip
# As git does, look for a NUL byte only at the beginning.
_LOOKED_AT_BYTES = 8_000
# Texts in memory at once.
_AT_ONCE = 200


@dataclass(slots=True)
class ReadingCounts:
    """`parsed`: files that were read and parsed; `failed`: those of them that the parser failed on."""

    parsed: int = 0
    failed: int = 0


def kind_of(path: str) -> str:
    """What the facts of a file depend on beside its text: its ending, or its whole path."""
    ending = PurePosixPath(path).suffix.lower()
    return ending if ending in _ANYWHERE and not is_migration(path) else path


def facts_of(
    git: RadarGit,
    cache: FactsCache,
    rules: MergeRules,
    wanted: Iterable[tuple[str, str]],
    counts: ReadingCounts | None = None,
) -> dict[tuple[str, str], FileFacts]:
    """(path, blob) -> its facts, `NOT_READ` for what is too large, is not text, or breaks the parser."""
    counts = counts or ReadingCounts()
    kinds: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for path, oid in dict.fromkeys(wanted):
        kinds[oid, kind_of(path)].append(path)
    facts = dict(cache.facts(kinds))
    unknown = [key for key in kinds if key not in facts]
    for at in range(0, len(unknown), _AT_ONCE):
        some = unknown[at : at + _AT_ONCE]
        fresh = _read(git, rules, {key: kinds[key][0] for key in some}, counts)
        cache.keep(fresh)
        facts |= fresh
    return {(path, key[0]): facts[key] for key, paths in kinds.items() for path in paths}


def _read(
    git: RadarGit, rules: MergeRules, paths: dict[tuple[str, str], str], counts: ReadingCounts
) -> dict[tuple[str, str], FileFacts]:
    contents = git.read({oid for oid, _ in paths})
    found = dict.fromkeys(paths, NOT_READ)
    jobs = {
        key: FactsJob(path, contents[key[0]].decode("utf-8", "replace"))
        for key, path in paths.items()
        if key[0] in contents and b"\0" not in contents[key[0]][:_LOOKED_AT_BYTES]
    }
    counts.parsed += len(jobs)
    for key, answer in zip(jobs, rules.run(list(jobs.values())), strict=True):
        if isinstance(answer, RuleFailure):
            counts.failed += 1
        else:
            found[key] = answer
    return found
