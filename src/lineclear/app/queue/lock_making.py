"""Lock files that both sides changed, or that a manifest has left behind, made anew by their package manager
from the merged manifests.

The manager starts from the left side's lock file: what the right side did not touch keeps its version.
What it made is believed after a look at it; else the file stays as the merge left it, and the doubt is told.
Who runs the manager, where, and whether that is allowed, is the `LockMaker`'s business.
"""

from __future__ import annotations

from lineclear.core.queue.landing import one_line
from lineclear.merge.handlers.locks import command_for
from lineclear.merge.rules import MADE_ANEW

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, Protocol

    from lineclear.app.queue.merge_trees import Trees
    from lineclear.merge.handlers.lock_makers import Maker

    Read = Callable[[Iterable[str]], dict[str, bytes]]

    class LockMaker(Protocol):
        """Runs package managers, in a place that is nobody's."""

        def why_not(self, path: str, /) -> str | None:
            """Why this lock file may not be made anew, in words; "" when it may, None when nobody asked."""

        def settings_at(self) -> str:
            """The commit or tree whose settings a package manager works by; "" for the left side's."""

        def make(self, question: Question, read: Read, /) -> Made:
            """The same question has the same answer, at once, if it has been asked before."""


PLAIN = ("100644", "100755")


class Question:
    """`files`: path -> object id of what the manager is shown, the lock file among them, as the left side
    has it. `names` are files that only have to be there."""

    __slots__ = ("files", "maker", "names", "path")

    def __init__(self, path: str, maker: Maker, files: Mapping[str, str], names: Iterable[str]) -> None:
        self.path, self.maker = path, maker
        self.files, self.names = dict(files), sorted(names)


class Made:
    """The lock file's new content and by whom, such as "npm 10.8"; or the doubt, and no content."""

    __slots__ = ("by", "content", "doubt")

    def __init__(self, content: bytes = b"", by: str = "", doubt: str = "") -> None:
        self.content, self.by, self.doubt = content, by, doubt


def remake_locks(
    trees: Trees, left: str, locks: Mapping[str, str], report: dict[str, Any], maker: LockMaker
) -> None:
    """`locks`: path -> object id on the left side, of those that both sides changed. The report's tree,
    files, commands and verdict are brought up to date, and its `locks` tell what was done."""
    for path, oid in sorted(locks.items()):
        why_not = maker.why_not(path)
        if why_not is None:
            continue
        made = Made(doubt=why_not) if why_not else _made(trees, left, path, oid, report, maker)
        report["locks"].append({"path": path, "by": made.by, "doubt": made.doubt})
        if made.doubt:
            _tell_doubt(report, path, made.doubt)
        else:
            _take(trees, report, path, made)
    report["clean"] = all(file["clean"] for file in report["files"]) and not report["findings"]


def remake_beside(
    trees: Trees,
    left: str,
    manifest: str,
    report: dict[str, Any],
    maker: LockMaker,
    may: Callable[[str], bool],
) -> None:
    """As `remake_locks`, for a side that could change one file only, a manifest: its lock files fit no more.
    `may`: who brings it in may change that lock file, too. What comes out as it was is not told of."""
    from lineclear.merge.handlers.lock_makers import is_manifest

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
    """Of each kind the nearest, in the manifest's directory or above it."""
    from lineclear.merge.handlers.lock_makers import maker_of

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
    """What was made anew, and what was not although it may be; one line each."""
    return [
        one_line(
            f"{row['path']} was not regenerated: {row['doubt']}"
            if row["doubt"]
            else f"{row['path']} was regenerated by {row['by']}"
        )
        for row in report.get("locks", ())
    ]


def made_of(report: dict[str, Any]) -> list[str]:
    """For the commit: `package-lock.json by npm 10.8`."""
    return [f"{row['path']} by {row['by']}" for row in report.get("locks", ()) if not row["doubt"]]


def _made(trees: Trees, left: str, path: str, oid: str, report: dict[str, Any], maker: LockMaker) -> Made:
    from lineclear.merge.handlers.lock_makers import maker_of

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
    made = maker.make(Question(path, known, files | {path: oid}, names), trees.read)
    return made if made.doubt else _looked_at(trees, path, made, known, files)


def _looked_at(trees: Trees, path: str, made: Made, known: Maker, files: Mapping[str, str]) -> Made:
    from lineclear.merge.handlers.lock_checks import doubt_of

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


def _take(trees: Trees, report: dict[str, Any], path: str, made: Made) -> None:
    mode = trees.files(report["tree"])[path][0]
    report["tree"] = trees.write(report["tree"], {path: (mode, made.content)})
    rule = MADE_ANEW + made.by
    told = {"path": path, "clean": True, "conflicts": [], "verdict": rule}
    told["rules"] = [{"where": "file", "rule": rule}]
    others = [file for file in report["files"] if file["path"] != path]
    report["files"] = sorted([*others, told], key=lambda file: str(file["path"]))
    if command_for(path) in report["commands"]:
        report["commands"].remove(command_for(path))


def _tell_doubt(report: dict[str, Any], path: str, doubt: str) -> None:
    """Where the file is a conflict, its first place says it, and still names the command."""
    for file in report["files"]:
        if file["path"] == path and not file["clean"]:
            first = file["conflicts"][0]
            first["doubt"] = f"not regenerated: {doubt}; merge the manifest, then run `{command_for(path)}`"
            first["text"] = f"{first['kind']}, {first['doubt']}"
