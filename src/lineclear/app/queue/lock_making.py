"""Regenerate lock files from the merged manifests with their package manager, where both sides changed the
lock file or a changed manifest made it outdated.

The manager starts from the left side's lock file, so what the right side did not touch keeps its version.
The new file is checked; if there is a doubt, the file stays as the merge left it and the report says why.
The `LockMaker` knows whether the manager may run, and runs it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.core.claims.paths import glob, glob_anywhere
from lineclear.core.queue.landing_results import one_line
from lineclear.merge.handlers.lock_checks import doubt_of
from lineclear.merge.handlers.lock_makers import MAKERS, is_manifest, maker_of
from lineclear.merge.handlers.locks import command_for
from lineclear.merge.rule_reasons import MADE_ANEW

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any, Protocol

    from lineclear.app.queue.merge_trees import MergeTrees
    from lineclear.core.trust import Stated
    from lineclear.merge.handlers.lock_makers import Maker

    Read = Callable[[Iterable[str]], dict[str, bytes]]

    class LockMaker(Protocol):
        """Runs package managers, in a directory outside all worktrees."""

        def why_not(self, path: str, /) -> str | None:
            """Why this lock file may not be regenerated; "" if it may, None if no setting asks for it."""

        def settings_at(self) -> str:
            """The commit or tree with the package manager's settings; "" for the left side's."""

        def make(self, question: LockQuestion, read: Read, /) -> Made:
            """Run the package manager. The answer to a repeated question comes from a cache."""


PLAIN = ("100644", "100755")


class LockQuestion:
    """`files`: path -> object id of the files that the manager sees, with the left side's lock file.
    `names`: files that only have to exist."""

    def __init__(self, path: str, maker: Maker, files: Mapping[str, str], names: Iterable[str]) -> None:
        self.path, self.maker = path, maker
        self.files, self.names = dict(files), sorted(names)


@dataclass(frozen=True, slots=True)
class Made:
    """The lock file's new content and its maker, such as "npm 10.8"; or the doubt, and no content."""

    content: bytes = b""
    by: str = ""
    doubt: str = ""


def remake_locks(
    trees: MergeTrees, left: str, locks: Mapping[str, str], report: dict[str, Any], maker: LockMaker
) -> None:
    """Regenerate `locks` (path -> object id on the left side) where allowed. Updates the tree, files,
    commands and verdict of the report, and lists in its `locks` what was done."""
    for path, oid in sorted(locks.items()):
        why_not = maker.why_not(path)
        if why_not is None:
            continue
        made = Made(doubt=why_not) if why_not else _make(trees, left, path, oid, report, maker)
        report["locks"].append({"path": path, "by": made.by, "doubt": made.doubt})
        if made.doubt:
            _report_doubt(report, path, made.doubt)
        else:
            _report_made(trees, report, path, made)
    report["clean"] = all(file["clean"] for file in report["files"]) and not report["findings"]


def remake_beside(
    trees: MergeTrees,
    left: str,
    manifest: str,
    report: dict[str, Any],
    maker: LockMaker,
    may: Callable[[str], bool],
) -> None:
    """Regenerate the lock files of a manifest, when the right side changed only that manifest. `may`: may its
    author change this lock file too? A lock file that stays the same is not reported."""
    if not is_manifest(manifest):
        return
    before = trees.files(report["tree"])
    remake_locks(
        trees,
        left,
        {lock: before[lock][1] for lock in _locks_of(before, manifest) if may(lock)},
        report,
        maker,
    )
    after = trees.files(report["tree"])
    report["locks"] = [
        row for row in report["locks"] if row["doubt"] or after[row["path"]] != before[row["path"]]
    ]


def _locks_of(files: Mapping[str, tuple[str, str]], manifest: str) -> list[str]:
    """The nearest lock file of each kind, in the manifest's directory or above it."""
    nearest: dict[str, str] = {}
    for path, (mode, _) in files.items():
        known = maker_of(path)
        if known is None or mode not in PLAIN or not known.needs(manifest):
            continue
        folder, _, name = path.rpartition("/")
        is_above = not folder or manifest.startswith(f"{folder}/")
        if is_above and len(path) > len(nearest.get(name, "")):
            nearest[name] = path
    return sorted(nearest.values())


def notes_of(report: dict[str, Any]) -> list[str]:
    """One line for each lock file that was regenerated, or could not be."""
    return [
        one_line(
            f"{row['path']} was not regenerated: {row['doubt']}"
            if row["doubt"]
            else f"{row['path']} was regenerated by {row['by']}"
        )
        for row in report.get("locks", ())
    ]


def made_of(report: dict[str, Any]) -> list[str]:
    """For the commit's trailers: `package-lock.json by npm 10.8`."""
    return [f"{row['path']} by {row['by']}" for row in report.get("locks", ()) if not row["doubt"]]


def _make(
    trees: MergeTrees, left: str, path: str, oid: str, report: dict[str, Any], maker: LockMaker
) -> Made:
    known = maker_of(path)
    if known is None:
        return Made(doubt="no known command regenerates it without side effects")
    found = trees.files(report["tree"])
    settings = trees.files(maker.settings_at() or left)
    if any(known.hooks.fullmatch(name) for name in found):
        return Made(doubt=f"a program in the repository affects what {known.name} writes")
    files = {name: row[1] for name, row in found.items() if row[0] in PLAIN and known.needs(name)}
    files |= {
        name: row[1] for name, row in settings.items() if row[0] in PLAIN and known.settings.fullmatch(name)
    }
    is_open = {file["path"] for file in report["files"] if not file["clean"]} & files.keys()
    if is_open:
        return Made(doubt=f"{min(is_open)} is not merged yet")
    names = {name for name in found if known.sources.fullmatch(name)} - files.keys()
    made = maker.make(LockQuestion(path, known, files | {path: oid}, names), trees.read)
    return made if made.doubt else _checked(trees, path, made, known, files)


def _checked(trees: MergeTrees, path: str, made: Made, known: Maker, files: Mapping[str, str]) -> Made:
    """The lock file, or the doubt if it does not fit the manifests beside it."""
    folder, _, name = path.rpartition("/")
    begin = f"{folder}/" if folder else ""
    wanted = {place: oid for place, oid in files.items() if place.startswith(begin) and known.needs(place)}
    blobs = trees.read(set(wanted.values()))
    texts = {
        place.removeprefix(begin): blobs[oid].decode("utf-8", "replace") for place, oid in wanted.items()
    }
    try:
        doubt = doubt_of(name, made.content.decode(), texts)
    except UnicodeDecodeError:
        doubt = f"{name} is not text"
    return Made(doubt=f"{made.by} ran, but {doubt}") if doubt else made


def _report_made(trees: MergeTrees, report: dict[str, Any], path: str, made: Made) -> None:
    mode = trees.files(report["tree"])[path][0]
    report["tree"] = trees.write(report["tree"], {path: (mode, made.content)})
    rule = MADE_ANEW + made.by
    entry = {"path": path, "clean": True, "conflicts": [], "verdict": rule}
    entry["rules"] = [{"where": "file", "rule": rule}]
    others = [file for file in report["files"] if file["path"] != path]
    report["files"] = sorted([*others, entry], key=lambda file: str(file["path"]))
    if command_for(path) in report["commands"]:
        report["commands"].remove(command_for(path))


def _report_doubt(report: dict[str, Any], path: str, doubt: str) -> None:
    """If the file is in conflict, its first conflict says why and names the command to run."""
    for file in report["files"]:
        if file["path"] == path and not file["clean"]:
            first = file["conflicts"][0]
            first["doubt"] = f"not regenerated: {doubt}; merge the manifest, then run `{command_for(path)}`"
            first["text"] = f"{first['kind']}, {first['doubt']}"


def untrusted_doubt(missing: Sequence[Stated]) -> str:
    """Why no package manager may run: the first untrusted setting; "" if all are trusted."""
    return f"{missing[0].where} in lineclear.toml is not trusted; run `lineclear trust`" if missing else ""


def idle_patterns(patterns: Sequence[str], origin: str, tracked: Iterable[str]) -> Iterator[str]:
    """A warning for each pattern of `merge.regenerate` that matches none of the tracked lock files. `origin`:
    the file with the setting."""
    locks = [path for path in tracked if maker_of(path) is not None]
    for place, pattern in enumerate(patterns):
        wanted = glob_anywhere(pattern)
        if any(wanted.matches(path) for path in locks):
            continue
        could = any(wanted.meets(glob(f"**/{name}")) for name in MAKERS)
        why = "git tracks no matching lock file" if could else "no lock file that can be regenerated matches"
        yield f'merge.regenerate[{place}] ({origin}) is "{pattern}", and {why}; correct or remove it'
