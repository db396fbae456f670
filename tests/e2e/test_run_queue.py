"""`lineclear run` with checks: finished work waits in the queue while its agent goes on; what comes back is
tried again on top of what was done, by somebody who is told why."""

from __future__ import annotations

import re

from tests.e2e.crew import Crew


def configure(crew: Crew, text: str, **files: str) -> None:
    crew.git.commit("Settings", {"lineclear.toml": text, **files})
    assert crew.ask("trust").code == 0


def test_work_that_fails_its_check_comes_back_with_the_output_and_lands_when_it_is_mended(crew: Crew) -> None:
    configure(crew, '[checks]\ngate = "if [ -e bad ]; then echo the roof leaks; exit 3; fi"\n')
    crew.task("Build a house", "--attempts", "3")
    script = """
    cp "$LINECLEAR_PROMPT" "$marks/prompt-$(ls $marks | grep -c prompt)"
    if [ -e house ]; then git rm --quiet bad; git commit --quiet --message=Mend
    else echo h >house; commit bad 1; fi
    """
    shift = crew.run_whole("-n", "1", command=crew.script(T1=script))
    assert (crew.on_main("house"), crew.on_main("bad")) == ("h", None)
    assert crew.row(1).state == "merged"
    assert crew.ends(1) == ["done", "done"]
    told = (crew.marks / "prompt-1").read_text()
    assert "## Why T-1 came back" in told
    assert [line for line in told.splitlines() if line.startswith(">") and "the roof leaks" in line]
    assert "Why T-1 came back" not in (crew.marks / "prompt-0").read_text()
    assert "T-1 sent back: it fails the check, by itself" in shift.said
    assert "T-1 landed" in shift.said
    report = shift.said.partition("AGENT ")[2]
    assert re.findall(r"^worker-1 +T-1 +(sent back|landed)", report, re.M) == ["sent back", "landed"]
    assert crew.findings() == []


def test_work_that_does_not_fit_comes_back_as_a_merge_with_the_conflict_in_it(crew: Crew) -> None:
    crew.git.commit("Base", {"door.txt": "grey\n"})
    configure(crew, '[checks]\ngate = "true"\n')
    crew.task("Paint the door green", "--attempts", "3")
    crew.task("Paint the door red", "--attempts", "3")
    green = "mark begun-1; await go; commit door.txt green"
    red = """
    cp "$LINECLEAR_PROMPT" $marks/prompt
    if grep -q '<<<<<<<' door.txt; then
      cp door.txt $marks/conflict; git status --short >$marks/status
      echo 'green and red' >door.txt; git add -A; git commit --quiet --no-edit
    else commit door.txt red; mark go; await landed; fi
    """
    shift = crew.run("-n", "2", command=crew.script(T1=green, T2=red))
    crew.until(lambda: crew.row(1).state == "merged", shift)
    crew.mark("landed")
    assert shift.code() == 0, shift.said
    assert crew.on_main("door.txt") == "green and red"
    assert [crew.row(n).state for n in (1, 2)] == ["merged", "merged"]
    assert crew.ends(2) == ["done", "done"]
    assert (crew.marks / "status").read_text() == "UU door.txt\n"
    assert "green" in (crew.marks / "conflict").read_text()
    told = (crew.marks / "prompt").read_text()
    assert "Your worktree already holds the merge" in told
    assert re.search(r'^> T-1 by [\w-]+, last in \w{7} "Paint the door green"$', told, re.M)
    assert re.search(r'^> T-2 by .+, last in \w{7} "Paint the door red"$', told, re.M)
    assert crew.findings() == []


def test_work_on_a_file_that_a_person_has_claimed_waits_for_the_person_and_uses_up_no_attempt(
    crew: Crew,
) -> None:
    crew.git.commit("Base", {"door.txt": "grey\n"})
    crew.task("Paint the door", "--attempts", "1")
    crew.ask("claim", "door.txt", "--mode", "exclusive")
    shift = crew.run("-n", "1", command=crew.script(T1="commit door.txt green"))
    crew.until(lambda: "T-1 delayed: waits: " in shift.said, shift)
    crew.ask("release", "door.txt")
    assert shift.code() == 0, shift.said
    assert (crew.on_main("door.txt"), crew.row(1).state) == ("green", "merged")
    assert "sent back" not in shift.said


def test_an_agent_whose_work_is_being_checked_goes_on_with_the_next_task(crew: Crew) -> None:
    gate = f"until [ -e {crew.marks}/checked ]; do sleep 0.05; done"
    configure(crew, f'[checks]\ngate = "{gate}"\n')
    for number in (1, 2):
        crew.task(f"Part {number}")
    shift = crew.run("-n", "1", command=crew.script(T1="commit 1 1", T2="mark second; commit 2 2"))
    crew.until_marked("second", shift)
    assert crew.row(1).state == "handed over"
    crew.mark("checked")
    assert shift.code() == 0, shift.said
    assert [crew.row(n).state for n in (1, 2)] == ["merged", "merged"]
    assert crew.git.git("worktree", "list").count("worker-1") == 0


def test_ctrl_c_amid_a_check_leaves_the_work_in_the_queue_and_the_next_run_lands_it(crew: Crew) -> None:
    gate = f"mkdir -p {crew.marks}/checking; until [ -e {crew.marks}/checked ]; do sleep 0.05; done"
    configure(crew, f'[checks]\ngate = "{gate}"\n')
    crew.task("Part 1")
    shift = crew.run("-n", "1", command=crew.script(T1="commit 1 1"))
    crew.until_marked("checking", shift)
    shift.interrupt()
    assert shift.code() == 130, shift.said
    assert crew.row(1).state == "handed over"
    crew.mark("checked")
    crew.task("Part 2")
    crew.run_whole("-n", "1", command=crew.script(T2="commit 2 2"))
    assert [crew.row(n).state for n in (1, 2)] == ["merged", "merged"]
    assert crew.processes() == []
