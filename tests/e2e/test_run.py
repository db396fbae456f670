"""`lineclear run` as its users know it: started, watched, asked, interrupted, started again."""

from __future__ import annotations

import json

import pytest

from tests.e2e.crew import Crew, Shift
from tests.waiting import until


def begun(crew: Crew, shift: Shift, task: int = 1) -> None:
    """The agent of this task is at work: it has said so itself, by a mark with the task's number."""
    crew.until_marked(f"begun-{task}", shift)


FOR_EVER = "mark begun-1; while :; do sleep 0.1; done"
DEAF = f"trap '' TERM; {FOR_EVER}"
WORKS_ON = 'mark "begun-${LINECLEAR_TASK#T-}"; await go'


# -- the ordinary course ----------------------------------------------------------------------


def test_every_agent_works_in_a_tree_of_its_own_and_all_of_it_lands(crew: Crew) -> None:
    for number in (1, 2, 3):
        assert crew.task(f"Part {number}") == number
    parts = {f"T{n}": f"pwd >$marks/place-{n}; commit part-{n}.txt {n}" for n in (1, 2, 3)}
    shift = crew.run_whole("-n", "2", command=crew.script(**parts))
    assert [crew.on_main(f"part-{n}.txt") for n in (1, 2, 3)] == ["1", "2", "3"]
    assert [crew.row(n).state for n in (1, 2, 3)] == ["merged"] * 3
    places = {(crew.marks / f"place-{n}").read_text().strip() for n in (1, 2, 3)}
    assert places == {str(crew.tree_of("worker-1")), str(crew.tree_of("worker-2"))}
    assert "T-1 landed" in shift.said
    assert crew.git.git("worktree", "list", "--porcelain").count("worktree ") == 1
    assert crew.processes() == []
    assert crew.findings() == []


def test_the_prompt_tells_the_task_and_comes_as_input(crew: Crew) -> None:
    crew.task("Paint the door", "--body", "Green, please")
    crew.run_whole("-n", "1", command=["sh", "-c", "cat >prompt.txt"])
    prompt = crew.on_main("prompt.txt") or ""
    assert "Paint the door" in prompt
    assert "Green, please" in prompt


def test_only_the_named_tasks_are_done(crew: Crew) -> None:
    for title in ("One", "Two", "Three"):
        crew.task(title)
    crew.run_whole(
        "-n", "2", "T-3", "T-1", command=crew.script(T1="commit 1 1", T2="commit 2 2", T3="commit 3 3")
    )
    assert [crew.row(n).state for n in (1, 2, 3)] == ["merged", "open", "merged"]


def test_a_task_that_is_not_there_is_refused(crew: Crew) -> None:
    assert crew.ask("run", "T-9", "--", "true").code == 5


def test_with_nothing_to_do_it_says_so(crew: Crew) -> None:
    assert crew.ask("run", "--", "true").code == 5


def test_a_task_starts_only_when_what_it_needs_is_on_main_and_sees_it(crew: Crew) -> None:
    crew.task("First")
    crew.task("Second", "--after", "T-1")
    second = "git log --format=%s >$marks/log; cat first.txt >$marks/seen; commit second.txt 2"
    crew.run_whole("-n", "2", command=crew.script(T1="commit first.txt 1", T2=second))
    assert (crew.marks / "seen").read_text() == "1\n"
    merged = crew.events("TaskMerged", 1)[0].position
    assert merged < crew.events("RunStarted", 2)[0].position


def test_tasks_that_are_added_meanwhile_are_taken(crew: Crew) -> None:
    crew.task("First")
    shift = crew.run("-n", "2", command=crew.script(T1=f"{WORKS_ON}; commit 1 1", T2="commit 2 2"))
    begun(crew, shift)
    crew.task("Second")
    crew.until(lambda: crew.row(2).state == "merged", shift)
    crew.mark("go")
    assert shift.code() == 0, shift.said
    assert crew.row(1).state == "merged"


def test_it_stays_for_more_when_asked_to(crew: Crew) -> None:
    crew.task("First")
    shift = crew.run("-n", "1", "--stay", command=crew.script(T1="commit 1 1", T2="commit 2 2"))
    crew.until(lambda: crew.row(1).state == "merged", shift)
    crew.task("Second")
    crew.until(lambda: crew.row(2).state == "merged", shift)
    shift.interrupt()
    assert shift.code() == 130


def test_with_no_land_the_branches_wait(crew: Crew) -> None:
    crew.task("First")
    crew.run_whole("-n", "1", "--no-land", command=crew.script(T1="commit 1 1"))
    assert (crew.row(1).state, crew.on_main("1")) == ("handed over", None)
    assert crew.git.git("show", f"{crew.row(1).branch}:1") == "1"
    crew.line.ok("land", crew.row(1).branch)
    assert crew.on_main("1") == "1"


def test_work_that_was_not_committed_is_committed_for_the_agent(crew: Crew) -> None:
    crew.task("First")
    crew.run_whole("-n", "1", command=crew.script(T1="echo new >new.txt; echo more >>README.md"))
    assert crew.on_main("new.txt") == "new"
    assert (crew.on_main("README.md") or "").endswith("more")


# -- asking for something ---------------------------------------------------------------------


def test_stop_asks_first_and_the_task_waits_for_a_person(crew: Crew) -> None:
    crew.task("First")
    polite = f"trap 'echo bye >bye.txt; exit 0' TERM; echo half >half.txt; {FOR_EVER}"
    shift = crew.run("-n", "1", command=crew.script(T1=polite), env={"LINECLEAR_RUN_GRACE": "1m"})
    begun(crew, shift)
    answer = crew.line.json("stop", "worker-1")
    assert (answer["is_done"], answer["words"]) == (True, "worker-1: stopped")
    assert shift.code() == 1, shift.said
    assert (crew.row(1).state, crew.row(1).attempt) == ("open", 0)
    [run] = crew.runs(1)
    assert crew.rescued(run.snapshot, "bye.txt") == "bye"
    assert crew.rescued(run.snapshot, "half.txt") == "half"
    assert crew.processes() == []


def test_stop_kills_who_does_not_stop_in_time(crew: Crew) -> None:
    crew.task("First")
    shift = crew.run("-n", "1", command=crew.script(T1=DEAF))
    begun(crew, shift)
    crew.line.ok("stop", "worker-1")
    assert shift.code() == 1, shift.said
    assert crew.ends(1) == ["stopped"]
    assert crew.processes() == []


def test_stop_hard_does_not_wait(crew: Crew) -> None:
    crew.task("First")
    command = crew.script(T1=DEAF)
    shift = crew.run("-n", "1", command=command, env={"LINECLEAR_RUN_GRACE": "10m"})
    begun(crew, shift)
    assert crew.line.json("stop", "--hard", "worker-1")["is_done"]
    assert shift.code() == 1, shift.said
    assert crew.ends(1) == ["stopped"]


def test_a_stop_that_turns_out_too_gentle_can_be_made_harder(crew: Crew) -> None:
    crew.task("First")
    command = crew.script(T1=DEAF)
    shift = crew.run("-n", "1", command=command, env={"LINECLEAR_RUN_GRACE": "10m"})
    begun(crew, shift)
    gentle = crew.line.start("stop", "worker-1")
    crew.until(lambda: crew.runs(1)[0].asked == "stop", shift)
    assert crew.line.json("stop", "--hard", "worker-1")["is_done"]
    assert shift.code() == 1, shift.said
    assert gentle.wait() == 0


def test_a_paused_agent_stands_still_keeps_its_task_and_uses_no_time(crew: Crew) -> None:
    crew.task("First")
    command = crew.script(
        T1="mark begun-1; while [ ! -e $marks/go ]; do date +%s%N >$marks/tick; sleep 0.05; done; commit 1 1"
    )
    env = {"LINECLEAR_BUDGETS_RUN_TIME": "10s", "LINECLEAR_TASKS_LEASE": "18s"}
    shift = crew.run("-n", "1", command=command, env=env)
    begun(crew, shift)
    assert crew.line.json("pause", "worker-1")["words"] == "worker-1: paused"
    tick = (crew.marks / "tick").read_text()
    for _ in range(2):  # renewed every third of the lease: longer than its time budget
        lease = crew.row(1).until_ns
        crew.until(lambda before=lease: crew.row(1).until_ns > before, shift)  # type: ignore[misc]
    assert (crew.marks / "tick").read_text() == tick
    crew.mark("go")
    assert crew.line.json("resume", "worker-1")["words"] == "worker-1: running"
    assert shift.code() == 0, shift.said
    assert crew.ends(1) == ["done"]
    assert crew.row(1).state == "merged"
    assert [len(crew.events(kind, 1)) for kind in ("RunPaused", "RunResumed")] == [1, 1]


def test_a_paused_agent_can_be_stopped(crew: Crew) -> None:
    crew.task("First")
    shift = crew.run("-n", "1", command=crew.script(T1=WORKS_ON))
    begun(crew, shift)
    crew.line.ok("pause", "worker-1")
    crew.line.ok("stop", "worker-1")
    assert shift.code() == 1, shift.said
    assert crew.ends(1) == ["stopped"]
    assert crew.processes() == []


def test_who_is_not_running_cannot_be_asked_for_anything(crew: Crew) -> None:
    for verb in ("stop", "pause", "resume", "attach"):
        assert crew.ask(verb, "nobody").code == 5, verb


def test_attach_shows_what_is_written_from_now_on_and_all_of_it_when_asked(crew: Crew) -> None:
    crew.task("First")
    first = """
    echo '{"type":"say","text":"early"}'; mark begun-1
    await late
    until [ -e "$marks/go" ]; do echo '{"type":"say","text":"late"}'; sleep 0.2; done
    commit 1 1
    """
    shift = crew.run("-n", "1", "--stream", "lineclear", command=crew.script(T1=first))
    begun(crew, shift)
    whole = crew.line.start("attach", "--all", "worker-1")
    raw = crew.line.start("attach", "--all", "--raw", "worker-1")
    assert whole.line() == "early"
    assert json.loads(raw.line()) == {"type": "say", "text": "early"}
    live = crew.line.start("attach", "worker-1", "--json")
    # Again and again: nothing tells that somebody has begun to look.
    crew.mark("late")
    assert whole.line() == "late"
    assert "late" in live.line()
    crew.mark("go")
    assert shift.code() == 0, shift.said
    assert [each.wait() for each in (whole, raw, live)] == [0, 0, 0]
    early, *late = crew.line.ok("attach", "--all", "worker-1").out.splitlines()
    assert (early, set(late)) == ("early", {"late"})


def test_a_second_supervisor_is_refused_and_can_look_on(crew: Crew) -> None:
    crew.task("First")
    command = crew.script(T1=f"{WORKS_ON}; commit 1 1")
    shift = crew.run("-n", "1", command=command)
    begun(crew, shift)
    status = crew.git.path / ".git" / "lineclear" / "supervisor.json"
    crew.until(lambda: status.exists() and '"working"' in status.read_text(), shift)
    answer = crew.ask("run", "--json", "--", *command)
    assert answer.code == 3, answer
    assert answer.error["next"] == "lineclear run --join"
    onlooker = crew.run("--join", command=[])
    crew.until(lambda: "worker-1: working on T-1 First" in onlooker.said, onlooker)
    crew.mark("go")
    assert shift.code() == 0, shift.said
    assert onlooker.code() == 0, onlooker.said
    assert "The supervisor has ended" in onlooker.said
    assert len(crew.runs(1)) == 1


def test_without_a_supervisor_there_is_nothing_to_join(crew: Crew) -> None:
    assert crew.ask("run", "--join").code == 5


# -- interrupted and started again ------------------------------------------------------------


def test_an_interrupt_leaves_everything_as_it_is_and_the_next_run_goes_on_there(crew: Crew) -> None:
    crew.task("First")
    crew.task("Second")
    goes_on = """
    if [ -e half.txt ]; then pwd >>$marks/places; git add -A; git commit -qm whole; exit 0; fi
    pwd >>$marks/places; echo half >half.txt; mark "begun-${LINECLEAR_TASK#T-}"; await never
    """
    other = goes_on.replace("half", "half-2").replace("places", "places-2")
    command = crew.script(T1=goes_on, T2=other)
    shift = crew.run("-n", "2", command=command)
    begun(crew, shift, 1)
    begun(crew, shift, 2)
    shift.interrupt()
    assert shift.code() == 130, shift.said
    assert "continues where this one stopped" in shift.said
    assert crew.ends(1) + crew.ends(2) == ["interrupted", "interrupted"]
    assert [(crew.row(n).state, crew.row(n).attempt) for n in (1, 2)] == [("open", 0), ("open", 0)]
    assert crew.processes() == []
    crew.run_whole("-n", "2", command=command)
    for name in ("places", "places-2"):
        first, second = (crew.marks / name).read_text().split()
        assert first == second
    assert (crew.on_main("half.txt"), crew.on_main("half-2.txt")) == ("half", "half-2")
    assert [run.attempt for run in crew.runs(1)] == [1, 1]
    assert crew.findings() == []


def test_a_second_interrupt_does_not_wait_for_anybody(crew: Crew) -> None:
    crew.task("First")
    command = crew.script(T1=DEAF)
    shift = crew.run("-n", "1", command=command, env={"LINECLEAR_RUN_GRACE": "10m"})
    begun(crew, shift)
    shift.interrupt()
    status = crew.git.path / ".git" / "lineclear" / "supervisor.json"
    crew.until(lambda: status.exists() and '"stopping"' in status.read_text(), shift)
    shift.interrupt()
    assert shift.code() == 130, shift.said
    assert crew.ends(1) == ["interrupted"]
    assert crew.processes() == []


def test_an_interrupt_while_agents_are_being_started_leaves_none_behind(crew: Crew) -> None:
    for number in range(6):
        crew.task(f"Part {number}")
    parts = {f"T{n}": "await never" for n in range(1, 7)}
    shift = crew.run("-n", "6", command=crew.script(**parts))
    crew.until(lambda: crew.events("TaskTaken"), shift)
    shift.interrupt()
    assert shift.code() == 130, shift.said
    assert crew.processes() == []
    assert {crew.row(n).state for n in range(1, 7)} == {"open"}
    assert all(end == "interrupted" for n in range(1, 7) for end in crew.ends(n))
    assert crew.findings() == []


# -- mixed teams ------------------------------------------------------------------------------


def test_workers_of_several_kinds_get_the_tasks_that_fit_them(crew: Crew) -> None:
    crew.task("Draw it", "--needs", "ui")
    crew.task("Store it", "--needs", "db")
    crew.task("Anything")
    script = crew.script(
        T1="commit drawn.txt $LINECLEAR_AGENT",
        T2="commit stored.txt $LINECLEAR_AGENT",
        T3="commit any.txt any",
    )
    crew.write_workers(
        painter={"client": "plain", "labels": ["ui"], "command": script},
        keeper={"client": "plain", "labels": ["db"], "command": script},
    )
    crew.run_whole(command=[])
    assert crew.on_main("drawn.txt") == "painter-1"
    assert crew.on_main("stored.txt") == "keeper-1"
    assert crew.on_main("any.txt") == "any"


def test_a_task_that_no_worker_can_do_is_named(crew: Crew) -> None:
    crew.task("Only for gurus", "--needs", "guru")
    shift = crew.run("-n", "1", command=crew.script(T1="true"))
    assert shift.code() == 5, shift.said
    assert "T-1" in shift.said
    assert crew.row(1).state == "open"


@pytest.mark.parametrize("brings", ["a value", "a message", "a file"])
def test_an_agent_without_a_worktree_brings_its_result_another_way(crew: Crew, brings: str) -> None:
    ways = {
        "a value": ("value:answer", """lineclear value put answer '"42"'"""),
        "a message": ("message", 'lineclear say --all "it is 42"'),
        "a file": ("answer.txt", "echo 42 >answer.txt"),
    }
    produces, how = ways[brings]
    crew.task("Find out", "--needs", "scout", "--produces", produces)
    script = crew.script(T1=f"pwd >$marks/place; {how}")
    crew.write_workers(scout={"client": "plain", "worktree": False, "command": script})
    crew.run_whole(command=[])
    assert crew.row(1).state == "accepted"
    assert (crew.marks / "place").read_text().strip() == str(crew.git.path)
    assert not crew.tree_of("scout-1").exists()
    assert crew.findings() == []


def test_a_file_that_was_not_brought_is_missed(crew: Crew) -> None:
    crew.task("Find out", "--produces", "answer.txt", "--attempts", "1")
    shift = crew.run("-n", "1", command=crew.script(T1="commit other.txt x"))
    assert shift.code() == 1, shift.said
    assert crew.ends(1) == ["rejected"]
    assert "answer.txt" in crew.row(1).reason
    assert crew.on_main("other.txt") is None


# -- who speaks -------------------------------------------------------------------------------


def test_an_agent_is_who_its_token_says_and_nobody_else(crew: Crew) -> None:
    crew.task("First")
    first = """
    lineclear claim theirs.py --as somebody-else; echo $? >$marks/claimed
    lineclear task note T-1 "said under another name" --as anna; echo $? >$marks/noted
    lineclear claim mine.py
    lineclear claim own.py --as worker-1/tests
    lineclear task note T-1 "said under its own name"
    echo "$LINECLEAR_TOKEN" >$marks/token
    lineclear stop worker-1; echo $? >$marks/stopped
    lineclear run -- true; echo $? >$marks/ran
    commit 1 1
    """
    crew.run_whole("-n", "1", command=crew.script(T1=first))
    claims = crew.events("ClaimGranted")
    assert [entry.actor for entry in claims] == ["worker-1", "worker-1/tests"]
    notes = [entry for entry in crew.events("TaskNoted", 1) if "landed on" not in entry.body]
    assert {entry.actor for entry in notes} == {"worker-1"}
    for refused in ("claimed", "noted", "stopped", "ran"):
        assert (crew.marks / refused).read_text() == "4\n"
    token = (crew.marks / "token").read_text().strip()
    answer = crew.ask("claim", "x.py", "--as", "codex-1", "--json", env={"LINECLEAR_TOKEN": token})
    assert (answer.code, answer.error["code"]) == (4, "token.unknown")  # the run is over
    until(lambda: crew.processes() == [])
