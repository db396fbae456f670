"""Does the merge that git makes hold together? A fault counts if neither side has it.

Dependencies are not installed, so every tool also complains about the two sides; what matters is the
difference. Languages without a tool on this machine stay unjudged.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from benchmarks.radar.python_builds import PythonBuild
from benchmarks.radar.repositories import Merge, Repository, language_of

LIMIT_S = 120
_PLACE = re.compile(r":\d+:\d+|\(\d+,\d+\)")
_JAVAC = (
    "javac", "-proc:none", "-implicit:none", "-nowarn", "-XDrawDiagnostics", "-XDshould-stop.ifError=FLOW",
    "-Xmaxerrs", "100000",
)  # fmt: skip
_TSC = ("tsc", "--noEmit", "--pretty", "false", "--skipLibCheck", "--target", "es2022", "--moduleResolution",
        "bundler", "--module", "esnext")  # fmt: skip
_RUSTC = ("rustc", "--edition", "2021", "--crate-type", "lib", "--emit", "metadata", "--error-format",
          "short", "--cap-lints", "allow", "--cfg", 'feature="std"')  # fmt: skip


class Builds:
    """One for each repository: the trees are checked out one after the other in the same directory."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._directory = repository.path.parent / "built"
        self._directory.mkdir(exist_ok=True)
        self._on_disk: dict[str, str] = {}
        self._python = PythonBuild()

    def new_faults(self, merge: Merge) -> set[str] | None:
        """Faults of the merge that neither side has; None if no tool here reads its languages."""
        changed = sorted(self._changed(merge))
        languages = {language_of(path) for path in changed}
        judged = {language for language in languages if language == "python" or tool_for(language)}
        if not judged:
            return None
        trees = (merge.tree, merge.left, merge.right)
        merged, left, right = (self._faults(tree, judged, changed) for tree in trees)
        return merged - left - right

    def _changed(self, merge: Merge) -> set[str]:
        sides = (merge.left, merge.right)
        return {path for side in sides for path in self._repository.changed(merge.base, side)}

    def _faults(self, tree: str, languages: set[str], changed: list[str]) -> set[str]:
        found: set[str] = set()
        if "python" in languages:
            found |= self._python.faults(self._repository, tree)
        if languages - {"python"}:
            self._check_out(tree)
        for language in sorted(languages - {"python"}):
            files = [path for path in changed if language_of(path) == language]
            found |= self._run(language, [path for path in files if (self._directory / path).is_file()])
        return found

    def _check_out(self, tree: str) -> None:
        """Write what differs from the last tree. Only code: the largest other files may be missing here."""
        files = self._repository.files(tree)
        for path in self._on_disk.keys() - files.keys():
            (self._directory / path).unlink()
        for path, blob in files.items():
            if self._on_disk.get(path) != blob:
                (self._directory / path).parent.mkdir(parents=True, exist_ok=True)
                (self._directory / path).write_bytes(self._repository.blob(blob))
        self._on_disk = files

    def _run(self, language: str, files: list[str]) -> set[str]:
        if not files:
            return set()
        output = str(self._directory.parent / "output")
        if language == "java":
            roots = {_source_root(self._directory, path) for path in _java_files(self._directory)}
            return self._complaints(
                [*_JAVAC, "-d", output, "-sourcepath", os.pathsep.join(sorted(roots)), *files]
            )
        if language == "typescript":
            return self._complaints([*_TSC, *files])
        crates = {crate for path in files for crate in _crates(self._directory, path)}
        return {
            fault
            for crate in sorted(crates)
            for fault in self._complaints([*_RUSTC, "-o", f"{output}.rmeta", crate])
        }

    def _complaints(self, words: list[str]) -> set[str]:
        try:
            done = subprocess.run(
                words, cwd=self._directory, capture_output=True, text=True, errors="replace",
                timeout=LIMIT_S, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return set()
        lines = (done.stdout + done.stderr).splitlines()
        return {_PLACE.sub("", line) for line in lines if _is_error(line)}


def tool_for(language: str) -> str:
    tools = {"java": "javac", "typescript": "tsc", "rust": "rustc"}
    return shutil.which(tools.get(language, "")) or "" if language in tools else ""


def _is_error(line: str) -> bool:
    """A line that names a place; the counts at the end change with every edit."""
    return _PLACE.search(line) is not None and ("error" in line or "compiler.err" in line)


def _java_files(directory: Path) -> Iterable[str]:
    return (str(path.relative_to(directory)) for path in directory.rglob("*.java"))


def _source_root(directory: Path, path: str) -> str:
    """`a/src/main/java` for `a/src/main/java/org/shop/Cart.java`."""
    match = re.match(r"(.*?/(?:main|test)/java)/", path)
    if match is not None:
        return match[1]
    with open(directory / path, encoding="utf-8", errors="replace") as file:
        package = re.search(r"^\s*package\s+([\w.]+)", file.read(), re.MULTILINE)
    folder = PurePosixPath(path).parent
    below = package[1].count(".") + 1 if package is not None else 0
    return str(PurePosixPath(*folder.parts[: len(folder.parts) - below])) if below else str(folder)


def _crates(directory: Path, path: str) -> set[str]:
    """The root of the crate that a Rust file belongs to."""
    for folder in PurePosixPath(path).parents:
        root = folder / "lib.rs"
        if (directory / root).is_file():
            return {str(root)}
    return set()
