"""A clone of which files, git and records are kept in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from lineclear.app.setup.clone import SetupClone
from lineclear.app.setup.plan import FileMove, SetupChange
from lineclear.app.setup.ports import FileChangedMeanwhile, SetupModule
from lineclear.clients.registry import SETUP, names_with, setup_of

ROOT, STATE = "/srv/shop", "/srv/shop/.git/lineclear"


class MemoryFiles:
    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.steps: list[str] = []

    def read(self, path: str) -> bytes | None:
        return self.files.get(path)

    def names_in(self, directory: str) -> list[str]:
        return sorted(path.rpartition("/")[2] for path in self.files if path.rpartition("/")[0] == directory)

    def missing_directories(self, paths: Iterable[str]) -> list[str]:
        there = {path.rpartition("/")[0] for path in self.files}
        return sorted({path.rpartition("/")[0] for path in paths} - there)

    def leads_out(self, path: str, root: str) -> bool:
        return False

    def apply(self, changes: Sequence[SetupChange | FileMove]) -> None:
        for change in changes:
            if isinstance(change, FileMove):
                self.files[change.to] = self.files.pop(change.path)
                continue
            if self.files.get(change.path) != change.before:
                raise FileChangedMeanwhile(change.path)
            self.files.pop(change.path, None)
            if change.after is not None:
                self.files[change.path] = change.after
        self.steps.append("files")

    def write_record(self, path: str, data: bytes) -> None:
        self.files[path] = data
        self.steps.append("record")

    def remove_record(self, path: str) -> None:
        self.files.pop(path, None)

    def remove_directories(self, paths: Iterable[str]) -> None:
        self.steps.append(f"remove {sorted(paths)}")

    @contextmanager
    def alone(self) -> Iterator[None]:
        yield


class MemoryGit:
    def __init__(self, files: MemoryFiles) -> None:
        self._files = files
        self.tracked_paths: set[str] = set()
        self.settings: dict[str, str] = {}

    def tracked(self, root: str, paths: Sequence[str]) -> list[str]:
        return [path for path in paths if path.removeprefix(root + "/") in self.tracked_paths]

    def ignored(self, paths: Sequence[str]) -> list[str]:
        return []

    def setting(self, name: str) -> str:
        return self.settings.get(name, "")

    def set_setting(self, name: str, value: str) -> None:
        self._files.steps.append(f"git {name} {value}")
        self.settings[name] = value

    def hooks_path(self) -> str:
        return self.setting("core.hooksPath")

    def main_ref(self) -> str:
        return "refs/heads/main"

    def run_hook(self, name: str, variables: Mapping[str, str]) -> None:
        self._files.files[variables["LINECLEAR_PROBE"]] = f"{name}\n".encode()


class Clients:
    def names(self) -> list[str]:
        return names_with(SETUP)

    def module(self, name: str) -> SetupModule:
        return setup_of(name)

    def stub_text(self) -> str:
        return "#!/bin/sh\n"


class MemoryClone:
    def __init__(self, *others: str) -> None:
        self.disk = MemoryFiles()
        self.git = MemoryGit(self.disk)
        self.clone = SetupClone(
            root=ROOT, roots=[ROOT, *others], common_dir=f"{ROOT}/.git", state=STATE, home="/home/sam",
            variables={}, is_closed=False, python="/usr/bin/python3", git=self.git, files=self.disk,
            clients=Clients(),
        )  # fmt: skip
