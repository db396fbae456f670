"""Files that must not be merged as text, and modes that do not fit: merge-tree leaves them open."""

from __future__ import annotations

from lineclear.git.merging import GitMerging
from tests.repository import TemporaryRepo

LONG = "x\n" * 5_000  # git looks for NUL only in the first 8000 bytes


def test_attributes_modes_and_nul_bytes_are_obeyed(repo: TemporaryRepo) -> None:
    merged = {"u.json": "-merge", "b.json": "binary", "p.json": ""}
    rows = "".join(f"{name} {words}\n" for name, words in merged.items() if words)
    repo.commit("Base", {".gitattributes": rows, **dict.fromkeys(merged, '{\n "a": 1\n}\n')})
    repo.git("branch", "side")
    added = {"nul": "a\0b\n", "long": f"{LONG}\0b\n", "mode.sh": "x\n", "both.sh": "x\n"}
    repo.commit("Left", {**dict.fromkeys(merged, '{\n "a": 1,\n "l": 1\n}\n'), **added})
    repo.git("switch", "-q", "side")
    added = {"nul": "a\0c\n", "long": f"{LONG}\0c\n", "mode.sh": "x\n", "both.sh": "x\ny\n"}
    repo.commit("Right", {**dict.fromkeys(merged, '{\n "a": 1,\n "r": 1\n}\n'), **added})
    repo.git("update-index", "--chmod=+x", "mode.sh", "both.sh")
    repo.git("commit", "-qm", "Modes")
    report = GitMerging(str(repo.path)).merge_tree("main~1", "main", "side")
    kinds = {file["path"]: [row["kind"] for row in file["conflicts"]] for file in report["files"]}
    assert kinds == {
        "b.json": ["not text"],
        "both.sh": ["mode"],
        "long": ["not text"],
        "mode.sh": ["mode"],
        "nul": ["not text"],
        "p.json": [],
        "u.json": ["not text"],
    }
    assert not report["clean"]
    for name in ("u.json", "b.json", "nul"):
        assert repo.git("show", f"{report['tree']}:{name}") == repo.git("show", f"main:{name}"), name
