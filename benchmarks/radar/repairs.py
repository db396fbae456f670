"""`python -m benchmarks.radar repairs`: merges that are known to be broken, and how many the radar saw.

Three sources: merges that people have read; merges of the study "Build conflicts in the wild"
(spgroup/papers, if it is among the repositories); and merges mined here. A merge is mined if one side removes
a definition and names it nowhere any more, the other side adds a line with that name, and git's merge still
has the name. It is called repaired if the merge commit itself, or one of the next five commits of the line
that it is on, takes the name out of those files.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.radar.repositories import LANGUAGES, Merge, Repository, borrowed, git_of
from benchmarks.radar.score import bare_name, describe
from lineclear.core.radar.findings import REMOVED, SAME_NAME, SIGNATURE, Finding

Compare = Callable[[str, str, str], list[Finding]]
READ_BY_PEOPLE = (
    ("gin-gonic/gin", "4892650ef"),
    ("gin-gonic/gin", "afbf1cf37"),
    ("celery/celery", "1cb69650f"),
)
STUDY, STUDY_FILE = "spgroup/papers", "HEAD:BuildConflicts/replication/build-conflicts.csv"
# How the study calls what the radar calls otherwise. It has more kinds, which no rule of ours can see.
STUDY_KINDS = {
    "unavailableSymbolFile": REMOVED, "unavailableSymbolMethod": REMOVED,
    "unavailableSymbolVariable": REMOVED, "incompatibleMethodSignature": SIGNATURE, "unimplementedMethod": SIGNATURE,
    "unimplementedMethodSuperType": SIGNATURE, "duplicatedDeclaration": SAME_NAME,
}  # fmt: skip
NEXT_COMMITS = 5
_CODE = [f"*{suffix}" for suffix in LANGUAGES]
_DEFINED = re.compile(
    r"\b(?:def|class|func|fn|function|interface|struct|trait|enum|type|fun|const|module|object)\s+"
    r"(?:\([^)]*\)\s*)?(?:self\.)?([A-Za-z_]\w{3,})"
    r"|\b(?:public|private|protected|internal|static|final)\b[^=;(]*\b([A-Za-z_]\w{3,})\s*\("
)
_WORD = re.compile(r"[A-Za-z_]\w{3,}")
_NOT_CODE = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`[^`]*`|//.*|#.*|^\s*\*.*|/\*.*")


@dataclass(frozen=True, slots=True)
class Broken:
    merge: Merge
    name: str
    files: tuple[str, ...]
    repaired: str


@dataclass(slots=True)
class Edits:
    """What a side does to code: names that it defines no longer, that it defines newly, and new words."""

    gone: set[str]
    defined: set[str]
    words: set[str]


def run(compare: Compare, sources: list[tuple[str, Path]], *, count: int, seed: int, show: bool) -> None:
    names = dict(sources)
    _print_known(compare, names)
    if STUDY in names:
        _print_study(compare, names)
    print(f"\n{'mined':26}{'merges':>7}{'dangling':>10}{'repaired':>10}{'seen':>6}{'of repaired':>12}")
    sums: Counter[str] = Counter()
    for name, source in sources:
        with borrowed(name, source) as repository:
            counts = _mine(compare, repository, count, seed, show)
        sums += counts
        if counts["merges"]:
            print(_mined_line(name, counts), flush=True)
    print(_mined_line("all", sums))


def _mined_line(name: str, counts: Counter[str]) -> str:
    return (
        f"{name[:26]:26}{counts['merges']:>7}{counts['dangling']:>10}{counts['repaired']:>10}"
        f"{counts['seen']:>6}{counts['seen repaired']:>12}"
    )


# -- known --------------------------------------------------------------------------------------


def _print_known(compare: Compare, names: dict[str, Path]) -> None:
    for name, commit in READ_BY_PEOPLE:
        if name not in names:
            continue
        with borrowed(name, names[name]) as repository:
            merge = merge_at(repository, commit)
            findings = compare(str(repository.path), merge.left, merge.right) if merge is not None else []
        print(f"{name} {commit}: {'seen' if findings else 'missed'}")
        for finding in findings:
            print(f"    {describe(finding)}")


def merge_at(repository: Repository, commit: str) -> Merge | None:
    """The merge, if it has two parents and git makes it without a conflict."""
    row = repository.git("rev-list", "--parents", "--max-count=1", commit, may_fail=True).split()
    return repository.clean_merge(*row) if len(row) == 3 else None


def _print_study(compare: Compare, names: dict[str, Path]) -> None:
    text = git_of(names[STUDY], "show", STUDY_FILE)
    labelled: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in csv.DictReader(io.StringIO(text)):
        labelled[row["Project Name"], row["Commit"]].add(row["Build Conflict Type"].strip('[]"'))
    counts: Counter[str] = Counter()
    print(f"\nmerges of the study {STUDY} that git makes without a conflict:")
    for (name, commit), kinds in sorted(labelled.items()):
        if name not in names:
            continue
        with borrowed(name, names[name]) as repository:
            merge = merge_at(repository, commit)
            if merge is None:
                counts["left out"] += 1
                continue
            findings = compare(str(repository.path), merge.left, merge.right)
        _print_labelled(name, commit, kinds, findings, counts)
    print(
        f"{counts['merges']} merges ({counts['left out']} more conflict or are not there), "
        f"{counts['ours']} of a kind that a rule looks for: {counts['seen']} seen by that kind, "
        f"{counts['any']} with any finding of these kinds"
    )


def _print_labelled(
    name: str, commit: str, kinds: set[str], findings: list[Finding], counts: Counter[str]
) -> None:
    wanted = {STUDY_KINDS[kind] for kind in kinds if kind in STUDY_KINDS}
    told = {finding.kind for finding in findings}
    counts["merges"] += 1
    counts["ours"] += bool(wanted)
    counts["seen"] += bool(wanted & told)
    counts["any"] += bool(wanted) and bool(told & {REMOVED, SIGNATURE, SAME_NAME})
    mark = "-" if not wanted else "seen" if wanted & told else "missed"
    print(
        f"  {mark:7}{name} {commit} {', '.join(sorted(kinds))}: found {', '.join(sorted(told)) or 'nothing'}"
    )


# -- mined --------------------------------------------------------------------------------------


def _mine(compare: Compare, repository: Repository, count: int, seed: int, show: bool) -> Counter[str]:
    counts: Counter[str] = Counter()
    children = _children(repository)
    for merge in itertools.islice(repository.clean_merges(seed), count):
        counts["merges"] += 1
        broken = list(_dangling(repository, merge, children))
        findings = compare(str(repository.path), merge.left, merge.right) if broken else []
        for each in broken:
            is_seen = any(
                finding.kind in (REMOVED, SIGNATURE) and bare_name(finding.symbol) == each.name
                for finding in findings
            )
            counts["dangling"] += 1
            counts["seen"] += is_seen
            counts["repaired"] += bool(each.repaired)
            counts["seen repaired"] += bool(each.repaired) and is_seen
            if show:
                mark = "seen  " if is_seen else "missed"
                where = each.repaired or "not repaired"
                print(f"  {mark} {merge.commit[:10]} `{each.name}` in {', '.join(each.files)[:120]}: {where}")
    return counts


def _dangling(repository: Repository, merge: Merge, children: dict[str, list[str]]) -> Iterator[Broken]:
    left, right = (read_edits(_diff(repository, merge.base, side)) for side in (merge.left, merge.right))
    for remover, user, parent in ((left, right, merge.left), (right, left, merge.right)):
        for name in sorted((remover.gone & user.words) - user.defined):
            if _files_with(repository, name, parent):
                continue
            files = _files_with(repository, name, merge.tree)
            if files:
                yield Broken(merge, name, files, _repair(repository, merge, name, files, children))


def _diff(repository: Repository, old: str, new: str) -> str:
    return repository.git("diff-tree", "-r", "-p", "-U0", "--no-renames", old, new, "--", *_CODE)


def read_edits(diff: str) -> Edits:
    removed: set[str] = set()
    edits = Edits(set(), set(), set())
    for line in diff.split("\n"):
        if line.startswith(("---", "+++")) or line[:1] not in ("-", "+"):
            continue
        code = _NOT_CODE.sub("", line[1:])
        names = {one or other for one, other in _DEFINED.findall(code)}
        if line[0] == "-":
            removed |= names
        else:
            edits.defined |= names
            edits.words.update(_WORD.findall(code))
    edits.gone = removed - edits.defined
    return edits


def _files_with(repository: Repository, name: str, tree: str) -> tuple[str, ...]:
    """The code files of a tree that have the word outside of comments and strings."""
    rows = repository.git("grep", "-I", "-w", "-F", "-z", name, tree, "--", *_CODE, may_fail=True).split("\n")
    found = []
    for row in rows:
        place, _, line = row.partition("\0")
        if line and re.search(rf"\b{name}\b", _NOT_CODE.sub("", line)):
            found.append(place.partition(":")[2])
    return tuple(dict.fromkeys(found))


def _repair(
    repository: Repository, merge: Merge, name: str, files: tuple[str, ...], children: dict[str, list[str]]
) -> str:
    if not set(_files_with(repository, name, merge.commit)) & set(files):
        return "repaired in the merge"
    line = [merge.commit]
    for commit in line:
        for child in children.get(commit, []):
            if len(line) > NEXT_COMMITS:
                return ""
            line.append(child)
            if set(files) - set(_files_with(repository, name, child)):
                return f"repaired by {child[:10]}"
    return ""


def _children(repository: Repository) -> dict[str, list[str]]:
    """The commits whose first parent a commit is."""
    children: dict[str, list[str]] = defaultdict(list)
    for commit, parents in repository.commits():
        if parents:
            children[parents[0]].append(commit)
    return children
