"""The queue with every hostile text and a crash in every handler: good candidates land, bad ones go back."""

from __future__ import annotations

import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from lineclear.app.ports import Caller
from lineclear.app.queue.candidates import SubmittedBranch, list_all, submit
from lineclear.wiring.repo import open_repo
from tests.e2e.commandline import SOURCE, CommandLine
from tests.merge_hostile import CASES, HANDLED, sides
from tests.repository import TemporaryRepo

# Python imports it in every process that has its folder on the path; only the merge child has the fault.
PLANTED = """
import os, sys
if any("merge_child" in word for word in sys.orig_argv):
    from importlib import import_module
    def planted(call):
        def merge(path, *rest):
            return os.abort() if path.startswith("bad/") else call(path, *rest)
        return merge
    for name in %r:
        handler = import_module("lineclear.merge.handlers." + name)
        handler.merge = planted(handler.merge)
"""
EVERY = 4  # after so many bad candidates a good one


@pytest.mark.slow
def test_bad_branches_go_back_each_with_its_reason_and_every_good_one_lands(
    line: CommandLine, repo: TemporaryRepo, tmp_path: Path
) -> None:
    texts = {f"{number}/{path}": text for number, (path, text) in enumerate(CASES.values())}
    texts |= dict.fromkeys(HANDLED.values(), "a VALUE\n")
    bad = {f"bad-{number}": path for number, path in enumerate(texts)}
    good = [f"good-{number}" for number in range(-(-len(bad) // EVERY))]
    write_branches(repo, texts, bad, good)
    (tmp_path / "sitecustomize.py").write_text(PLANTED % sorted(HANDLED))
    line.environment["PYTHONPATH"] = f"{SOURCE}:{tmp_path}"

    line.ok("land", "bad-0", "--no-wait")
    base = repo.git("merge-base", "main", "bad-0")
    with closing(open_repo(str(repo.path), repo.environment)) as opened:
        for number, branch in enumerate(bad):
            for name in [branch] if number % EVERY else [branch, good[number // EVERY]]:
                found = SubmittedBranch(name, repo.git("rev-parse", name), base)
                submit(opened.store, Caller("anna", is_person=True), found)
        line.ok("queue", "run", "--once")
        ended = opened.store.read(lambda view: list_all(view, ended=len(bad) + len(good)))
    rows = {row["branch"]: row for row in ended}
    assert {name: row["state"] for name, row in rows.items() if name in good} == dict.fromkeys(good, "landed")
    for branch, path in bad.items():
        row = rows[branch]
        assert row["state"] == "sent back", (path, row)
        crash = "the merge rules crashed on this file (SIGABRT)"
        assert (crash in row["why"]) == (path in HANDLED.values()), (path, row["why"])
        assert path in row["why"] or crash in row["why"], row["why"]
    assert len(set(repo.git("ls-tree", "--name-only", "main").split()) & set(good)) == len(good)


def write_branches(repo: TemporaryRepo, texts: dict[str, str], bad: dict[str, str], good: list[str]) -> None:
    """All in one stream: a process for each of a hundred commits would take longer than the queue."""
    stream = [b"reset refs/heads/start\nfrom main\n\n"]

    def commit(branch: str, files: dict[str, str]) -> None:
        stream.append(f"commit refs/heads/{branch}\ncommitter A <a@b> 1 +0000\ndata 4\nWork\n".encode())
        stream.append(b"from refs/heads/start\n" if branch != "start" else b"")
        for path, text in files.items():
            data = text.encode("utf-8", "surrogatepass")
            stream.append(f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data + b"\n")

    commit("start", {path: sides(text)[0] for path, text in texts.items()})
    commit("ahead", {path: sides(text)[1] for path, text in texts.items()})
    for branch, path in bad.items():
        commit(branch, {path: sides(texts[path])[2]})
    for branch in good:
        commit(branch, {branch: "good\n"})
    subprocess.run(
        ["git", "fast-import", "--quiet"],
        cwd=repo.path,
        env=repo.environment,
        input=b"".join(stream),
        check=True,
    )
    repo.git("merge", "--quiet", "--ff-only", "ahead")
