"""Main's own lineclear.toml: read from loose and from packed objects, and kept until main moves."""

from __future__ import annotations

from pathlib import Path

from lineclear.git.main_settings import KEPT, main_file
from tests.repository import TemporaryRepo

NAME = "lineclear.toml"


def test_mains_file_is_found_wherever_git_keeps_it(repo: TemporaryRepo, tmp_path: Path) -> None:
    def read(landing: str = "") -> bytes | None:
        return main_file(str(repo.path / ".git"), str(tmp_path), landing, NAME)

    assert (read(), read("nowhere")) == (b"", None)
    commit = repo.commit("Settings", {NAME: "# one\n"})
    (repo.path / NAME).write_text("# not committed\n")
    assert read() == b"# one\n"
    assert (tmp_path / KEPT).read_bytes() == commit.encode() + b"\n# one\n"
    assert read() == b"# one\n"

    repo.commit("Again", {NAME: "# two\n"})
    repo.git("gc", "--quiet")
    assert not (repo.path / ".git" / "refs" / "heads" / "main").exists()
    assert read() == b"# two\n"
    repo.git("rm", "--quiet", NAME)
    repo.git("commit", "--quiet", "--message", "Gone")
    assert read() == b""
