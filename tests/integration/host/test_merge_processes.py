"""The merge rules in their own processes: what they do to a file stays with that file."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from lineclear.core.queue.landing_results import Landed, SentBack
from lineclear.core.worktrees.syncing import Conflicted
from lineclear.git.merging import GitMerging
from lineclear.host import merge_processes
from lineclear.host.merge_processes import MergeProcesses
from lineclear.merge import Labels, MergeResult, merge_texts
from lineclear.merge.registry import HANDLERS
from lineclear.merge.rule_jobs import MergeJob, NamesJob, RuleFailure
from lineclear.wiring.sync import sync_in
from tests.landings import land, open_team
from tests.merge_hostile import HANDLED
from tests.repository import TemporaryRepo
from tests.syncs import sync

GOOD = MergeJob("a.txt", "1\n2\n", "1\nb\n", "1\nc\n", Labels())
# The child with a fault in it: {} is what happens when a handler or a rule for hunks is called.
FAULTY = """
import os, signal, sys, time
from importlib import import_module
from lineclear.host import merge_child
from lineclear.merge import engine
def fault(path, *rest):
    if "bad" in path:
        {fault}
for name in {names!r}:
    import_module("lineclear.merge.handlers." + name).merge = fault
sys.exit(merge_child.main())
"""
HANDLER_NAMES = sorted({name for _, name in HANDLERS})


def faulty(fault: str) -> MergeProcesses:
    program = FAULTY.format(fault=fault, names=HANDLER_NAMES)
    return MergeProcesses((sys.executable, "-P", "-c", program), patience_s=60)


def job(path: str) -> MergeJob:
    return MergeJob(path, "a 1\n", "a 2\n", "a 3\n", Labels())


@pytest.fixture
def rules() -> Iterator[MergeProcesses]:
    made = MergeProcesses()
    yield made
    made.close()


@pytest.fixture
def run_everywhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Sequence[str]], None]]:
    """Makes this command the child of the whole process."""

    def use(command: Sequence[str]) -> None:
        monkeypatch.setattr(merge_processes.MERGE_PROCESSES, "command", command)
        merge_processes.MERGE_PROCESSES.close()

    yield use
    merge_processes.MERGE_PROCESSES.close()


def test_answers_are_those_of_the_rules_themselves_and_in_order(rules: MergeProcesses) -> None:
    jobs = [
        MergeJob(f"{n}.py", "x = 1\n", f"x = {n}\n", "x = 0\n", Labels("l", "b", "r")) for n in range(2, 22)
    ]
    jobs.append(
        MergeJob("\udcff\u2028.py", "import a\n", "import a\nimport b\n", "import a\nimport c\n", Labels())
    )
    for asked, found in zip(jobs, rules.run(jobs), strict=True):
        here = merge_texts(asked.path, asked.base, asked.left, asked.right, labels=asked.labels)
        assert isinstance(found, MergeResult)
        assert (found.text, found.rules, found.verdict) == (here.text, here.rules, here.verdict)
        assert [vars(row) for row in found.conflicts] == [vars(row) for row in here.conflicts]


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "the merge rules crashed on this file (SIGSEGV)"),
        ("os._exit(3)", "the merge rules crashed on this file (exit code 3)"),
        ("raise KeyError(path)", "the merge rules crashed on this file (KeyError in <string>:8)"),
        ("bytearray(8 << 30)", "the merge rules needed more than 2 GB of memory for this file"),
    ],
)
def test_a_fault_in_any_handler_is_an_answer_about_that_file(fault: str, reason: str) -> None:
    assert sorted(HANDLED) == HANDLER_NAMES
    rules = faulty(fault)
    paths = list(HANDLED.values()) if "SEGV" in fault else ["bad/a.json"]
    *bad, good = rules.run([*map(job, paths), GOOD])
    assert bad == [RuleFailure(reason)] * len(paths)
    assert isinstance(good, MergeResult), "the other file must not suffer"
    rules.close()


def test_a_rule_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = "merge_child.CPU_SECONDS = 0; merge_child._allow_more_time(); any(iter(int, 1))"
    rules = faulty(loop)
    bad, good = rules.run([job("bad/a.json"), GOOD])
    assert bad == RuleFailure("the merge rules needed more than 5 s of processor time for this file")
    assert isinstance(good, MergeResult)
    monkeypatch.setattr(merge_processes, "spawn", None)
    assert rules.run([job("bad/a.json")]) == [bad], "it is known by now, and not tried again"
    rules.close()


def test_a_child_that_does_not_run_at_all_is_replaced() -> None:
    rules = MergeProcesses(faulty("os.kill(os.getpid(), signal.SIGSTOP)").command, patience_s=5)
    bad, good = rules.run([job("bad/a.json"), GOOD])
    assert isinstance(bad, RuleFailure)
    assert isinstance(good, MergeResult)
    rules.close()


def test_a_child_that_went_home_is_replaced_without_a_word(rules: MergeProcesses) -> None:
    (before,) = rules.run([GOOD])
    os.close(rules.idle[0].to)
    rules.idle[0].to = os.open(os.devnull, os.O_WRONLY)
    merge_processes._readable([rules.idle[0].fd], 20)
    (after,) = rules.run([GOOD])
    assert after.text == before.text


def test_a_child_that_cannot_start_is_an_error_and_not_a_conflict() -> None:
    with pytest.raises(ChildProcessError, match="did not start"):
        MergeProcesses((sys.executable, "-c", "raise SystemExit(2)")).run([GOOD])


def test_a_bad_branch_is_sent_back_and_the_others_land(
    repo: TemporaryRepo, run_everywhere: Callable[[Sequence[str]], None]
) -> None:
    run_everywhere(faulty("os.kill(os.getpid(), signal.SIGSEGV)").command)
    repo.commit("Base", {"bad.json": '{"a": 1}\n', "good.txt": "1\n"})
    with open_team(repo) as team:
        team.work("bad", {"bad.json": '{"a": 3}\n'})
        team.work("good", {"good.txt": "2\n"})
        repo.commit("Main goes on", {"bad.json": '{"a": 2}\n'})
        result = land(team.repo, team.person, branch="bad")
        assert isinstance(result, SentBack)
        assert result.conflicts[0]["doubt"] == "the merge rules crashed on this file (SIGSEGV)"
        assert "the merge rules crashed on this file" in result.why
        assert isinstance(land(team.repo, team.person, branch="good"), Landed)
        sync = sync_in(team.repo, team.person, str(team.tree_of("bad")))
        assert "SIGSEGV" in str(vars(sync.preview()))


def test_work_beside_a_file_on_which_the_rules_failed_is_synced_and_its_markers_name_the_branches(
    repo: TemporaryRepo, run_everywhere: Callable[[Sequence[str]], None]
) -> None:
    run_everywhere(faulty("os.kill(os.getpid(), signal.SIGSEGV)").command)
    repo.commit("Base", {"bad.json": '{"a": 1}\n', "good.json": '{"a": 1,\n "b": 1}\n'})
    with open_team(repo) as team:
        team.work("ada", {"bad.json": '{"a": 3}\n', "good.json": '{"a": 1,\n "b": 2}\n'})
        repo.commit("Main goes on", {"bad.json": '{"a": 2}\n', "good.json": '{"a": 2,\n "b": 1}\n'})
        found = sync(team, keep=True)
        assert isinstance(found, Conflicted)
        assert [row["doubt"] for row in found.conflicts] == ["the merge rules crashed on this file (SIGSEGV)"]
        left = team.tree_of("ada")
        kept = '<<<<<<< ada\n{"a": 3}\n=======\n{"a": 2}\n>>>>>>> main\n'
        assert (left / "bad.json").read_text() == kept
        assert (left / "good.json").read_text() == '{"a": 2,\n "b": 2}\n'
        assert repo.git("status", "--porcelain", at=left).split("\n") == ["UU bad.json", "M  good.json"]
    tree = GitMerging(str(repo.path)).merge_tree("main~1", "main", "ada")["tree"]
    kept = '<<<<<<< main\n{"a": 2}\n=======\n{"a": 3}\n>>>>>>> ada\n'
    assert repo.git("show", f"{tree}:bad.json") + "\n" == kept


def test_a_crash_while_names_or_numbers_are_read_concerns_only_the_branch_that_brought_the_text(
    repo: TemporaryRepo, run_everywhere: Callable[[Sequence[str]], None]
) -> None:
    program = (
        "import os, sys\nfrom lineclear.host import merge_child\nfrom lineclear.merge import rule_jobs\n"
        "def fault(*texts):\n    return os.abort() if 'bad' in str(texts) else call(*texts)\n"
        "call = rule_jobs._KINDS['names']\n"
        "rule_jobs._KINDS |= {'names': fault, 'renumber': lambda *_: os.abort()}\n"
        "sys.exit(merge_child.main())\n"
    )
    run_everywhere((sys.executable, "-P", "-c", program))
    crash = "the merge rules crashed on this file (SIGABRT)"
    with open_team(repo) as team:
        team.work("style", {"a.css": ".bad { x }\n"})
        team.work("number", {"db/migrations/002_b.sql": "create table b (x int);\n"})
        team.work("good", {"b.css": ".good { x }\n"})
        repo.commit("Main goes on", {"db/migrations/002_a.sql": "create table a (x int);\n"})
        for branch, path in (("style", "a.css"), ("number", "db/migrations/002_b.sql")):
            result = land(team.repo, team.person, branch=branch)
            assert isinstance(result, SentBack)
            assert crash in result.why
            assert path in str(result.conflicts)
        assert isinstance(land(team.repo, team.person, branch="good"), Landed)
        repo.commit("Main has it", {"a.css": ".bad { x }\n"})
        team.work("later", {"c.css": ".later { x }\n"})
        assert isinstance(land(team.repo, team.person, branch="later"), Landed)


def test_the_merge_driver_leaves_gits_own_conflict(tmp_path: Path) -> None:
    for name, value in (("base", 1), ("left", 2), ("right", 3)):
        (tmp_path / name).write_text("- " * 260 + f"{value}\n")
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "if 'merge_child' in ' '.join(sys.orig_argv):\n"
        "    import lineclear.merge.handlers.yaml_files as y\n"
        "    y.merge = lambda *_: __import__('os').abort()\n"
    )
    words = [sys.executable, "-m", "lineclear", "merge-file", "base", "left", "right"]
    environ = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [*words, "--path", "a.yaml", "--explain"],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout.startswith("<<<<<<< ours\n- - ")
    assert done.stdout.endswith(" 3\n>>>>>>> theirs\n")
    assert "the merge rules crashed on this file (SIGABRT)" in done.stderr


def test_names_are_found_in_a_child_too(rules: MergeProcesses) -> None:
    assert rules.run([NamesJob("a.css", ".a { x }", "")]) == [{"selector": {".a": "x"}}]
