"""The words of every refusal, exactly as they are said, and how long they may become."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any

import pytest

from lineclear.core.claims.resources import parse_resource
from lineclear.core.claims.rules import EXCLUSIVE, Blocker, Request
from lineclear.core.instants import Instant
from lineclear.core.log.tables import Claim
from lineclear.core.refusals import Refusal, quote, shorten
from lineclear.core.runs.budgets import Amount, Breach
from lineclear.core.trust import Stated
from tests.wording import refusing_functions, words

NOW = Instant(1_000_000_000, "memory", 1_767_268_800 * 1_000_000_000)  # 2026-01-01T12:00:00Z
UNTIL_NS = NOW.in_ms(12 * 60_000)
LOGIN = Request("bob", "main", EXCLUSIVE, [parse_resource("src/auth/login.py")], ttl_ms=1_000)
ASKED = Request("bob", "main", EXCLUSIVE, [parse_resource("src/a.py")], ttl_ms=1_000)


def claim(agent: str, text: str, *, note: str = "", task: int = 0) -> Claim:
    found = parse_resource(text)
    return Claim(agent, found.text, found.node, EXCLUSIVE, 7, "main", note, task, 720_000, "", UNTIL_NS)


def blocker(
    agent: str, text: str, *, wanted: str = "", note: str = "", task: int = 0, ticket: int = 0
) -> Blocker:
    held = claim(agent, text, note=note, task=task)
    return Blocker(parse_resource(wanted or text), held, held.resource, ticket)


# The function, its arguments, its code with the exit code, and the text.
TABLE: list[tuple[Callable[..., Refusal], tuple[Any, ...], str, str]] = [
    (
        words.bad_resource,
        ("../a", "it climbs above its root"),
        "resource.bad 2",
        '"../a" is not a resource: it climbs above its root.\nNext: run `lineclear claim --help`.',
    ),
    (
        words.unknown_scheme,
        ("colour:red", "colour", ["file", "symbol"]),
        "resource.scheme 2",
        '"colour:red" has the unknown scheme "colour".\n'
        "Known: file, symbol. Others are declared in lineclear.toml, [resources] schemes.\n"
        "Next: run `lineclear config show`.",
    ),
    (
        words.outside_repo,
        ("/etc/hosts", "/srv/shop"),
        "resource.outside 4",
        '"/etc/hosts" is outside this repository.\n'
        "The repository is /srv/shop; declare what lies outside it as memory:NAME or api:NAME.\n"
        "Next: run `lineclear claim memory:NAME`.",
    ),
    (
        words.bad_value,
        ("ttl", "soon", "write it like 90s"),
        "input.bad 2",
        'ttl "soon" is not usable: write it like 90s.\nNext: run `lineclear --help`.',
    ),
    (
        words.store_missing,
        ("/r/.git/lineclear",),
        "store.missing 5",
        "This repository has no lineclear store yet.\nNext: run `lineclear init`.",
    ),
    (
        words.store_busy,
        ("/r", "pid 12", 30.0),
        "store.busy 8",
        "The store could not be written within 30 s.\n"
        "pid 12 holds its gate; if it is stopped, continue or end it.\n"
        "Next: run `lineclear doctor`.",
    ),
    (
        words.store_locked,
        ("/r", "database is locked"),
        "store.locked 8",
        "The store is locked by a program that is not lineclear.\n"
        "database is locked\n"
        "Next: run `lineclear doctor`.",
    ),
    (
        words.store_full,
        ("/r", "database or disk is full"),
        "store.full 1",
        "The disk of the store is full; nothing was written.\n"
        "database or disk is full\n"
        "Next: run `lineclear doctor`.",
    ),
    (
        words.store_read_only,
        ("/r", "attempt to write a readonly database"),
        "store.read_only 4",
        "The store cannot be written from here; nothing was changed.\n"
        "attempt to write a readonly database\n"
        "Next: run `lineclear doctor`.",
    ),
    (
        words.store_unreadable,
        ("/r", "permission denied"),
        "store.unreadable 1",
        "The store cannot be opened.\npermission denied\nNext: run `lineclear doctor`.",
    ),
    (
        words.store_unreachable,
        ("postgresql://db/team", "connection refused"),
        "store.unreachable 1",
        "The shared store is out of reach; nothing was changed.\n"
        "connection refused\n"
        "Next: run `lineclear doctor`.",
    ),
    (
        words.store_damaged,
        ("/r", "file is not a database"),
        "store.damaged 1",
        "The store is damaged or is not a lineclear store.\n"
        "file is not a database\n"
        "Next: run `lineclear doctor`.",
    ),
    (
        words.store_failed,
        ("/r", "disk I/O error"),
        "store.failed 1",
        "The store failed; whether the last write happened is unknown.\n"
        "disk I/O error\n"
        "Next: run `lineclear audit`.",
    ),
    (
        words.store_older,
        ("/r", 1, 2),
        "store.older 1",
        "The store has schema 1; this program needs 2.\nNext: run `lineclear init`.",
    ),
    (
        words.store_newer,
        ("/r", 3, 2),
        "store.newer 4",
        "The store has schema 3; this program knows up to 2.\n"
        "A newer lineclear has been here.\n"
        "Next: run `pip install --upgrade lineclear`.",
    ),
    (
        words.store_not_empty,
        ("/r",),
        "store.not_empty 4",
        "The target store is not empty; nothing was copied.\nNext: run `lineclear db info`.",
    ),
    (
        words.store_on_network,
        ("/r", "nfs4"),
        "store.network 4",
        "The store would lie on a network file system (nfs4), which SQLite is not safe on.\n"
        "Next: run `lineclear init --store postgresql://HOST/DATABASE`.",
    ),
    (
        words.claim_held,
        (blocker("ann", "src/", wanted="src/auth/login.py", note="login form", task=41), LOGIN, NOW, 1),
        "claim.held 3",
        "file:src/auth/login.py is not yours to take (exclusive).\n"
        'ann holds file:src/ (exclusive) until 12:12 UTC (in 12 min) for T-41, "login form".\n'
        "Next: run `lineclear claim file:src/auth/login.py --mode exclusive --wait 10m`.",
    ),
    (
        words.claim_held,
        (blocker("ann", "src/", wanted="src/auth/login.py", ticket=9), LOGIN, NOW, 2),
        "claim.waiting 3",
        "file:src/auth/login.py is not yours to take (exclusive).\n"
        "ann waits for file:src/ (exclusive) and comes first.\n"
        "Next: run `lineclear claim file:src/auth/login.py --mode exclusive --wait 10m`.",
    ),
    (
        words.claim_deadlock,
        ("bob", "file:a", [blocker("ann", "a"), blocker("bob", "b")]),
        "claim.deadlock 3",
        "Waiting for file:a would never end.\n"
        "bob would wait for ann (file:a); ann would wait for bob (file:b).\n"
        "Next: run `lineclear release --all`.",
    ),
    (
        words.claim_timed_out,
        ("file:a", 90_000, "ann", "2026-01-01T12:12:00Z"),
        "claim.timeout 8",
        "file:a did not come free within 1 min 30 s.\n"
        "ann still has it, until 12:12 UTC.\n"
        "Next: run `lineclear task next`.",
    ),
    (
        words.claim_not_yours,
        ("file:src/a.py", claim("ann", "src/"), NOW),
        "claim.not_yours 3",
        "file:src/a.py is not yours to release.\n"
        "ann holds file:src/ until 12:12 UTC (in 12 min).\n"
        "Next: run `lineclear say --to ann 'please release file:src/a.py'`.",
    ),
    (
        words.claim_not_held,
        ("file:a", []),
        "claim.not_held 5",
        "file:a is not claimed by you.\nNobody holds it.\nNext: run `lineclear who file:a`.",
    ),
    (
        words.claim_not_held,
        ("file:src/a.py", ["file:src/"]),
        "claim.not_held 5",
        "file:src/a.py is not claimed by you.\n"
        "You hold file:src/, named differently.\n"
        "Next: run `lineclear release file:src/`.",
    ),
    (
        words.ticket_lost,
        (9,),
        "claim.ticket 8",
        "Ticket 9 is no longer in the line.\n"
        "Its waiter was silent for too long, or it left.\n"
        "Next: run `lineclear`.",
    ),
    (
        words.fence_stale,
        ("value:plan", 7, "ann", 12),
        "fence.stale 7",
        "Fence 7 no longer covers value:plan.\n"
        "ann was granted it later, under fence 12.\n"
        "Next: run `lineclear who value:plan`.",
    ),
    (
        words.person_only,
        ("take over a claim", "bob"),
        "person.only 4",
        "Only a person may take over a claim.\n"
        "You are the agent bob.\n"
        "Next: run `lineclear say --all --urgent TEXT`.",
    ),
    (
        words.operation_differs,
        ("op-1",),
        "operation.differs 2",
        'The operation id "op-1" was used before with other arguments.\n'
        "A repeat must be word for word; a new command needs a new id.\n"
        "Next: run `lineclear log`.",
    ),
    (
        words.not_found,
        ("task", "T-9", "lineclear task list"),
        "task.unknown 5",
        'There is no task "T-9".\nNext: run `lineclear task list`.',
    ),
    (
        words.task_taken,
        ("T-1", "ann", UNTIL_NS, NOW),
        "task.taken 3",
        "T-1 is taken.\nann works on it until 12:12 UTC (in 12 min).\nNext: run `lineclear task next`.",
    ),
    (
        words.task_ends_with_run,
        ("T-41", "lineclear/T-41-login-form"),
        "task.run 4",
        "T-41 is not ended by hand: its work on lineclear/T-41-login-form would never land.\n"
        "It is checked, landed and ended for you as soon as your session ends.\n"
        'Next: run `lineclear task note T-41 "done, because ..."`.',
    ),
    (
        words.task_not_yours,
        ("T-1", "ann", UNTIL_NS, NOW),
        "task.not_yours 3",
        "T-1 is not yours to end.\n"
        "ann works on it until 12:12 UTC (in 12 min).\n"
        "Next: run `lineclear say --to ann TEXT`.",
    ),
    (
        words.task_wrong_state,
        ("T-1", "merged", "edit"),
        "task.state 7",
        'T-1 is merged; "edit" does not apply to it.\nNext: run `lineclear task show T-1`.',
    ),
    (
        words.task_not_ready,
        ("T-3", ["T-1", "T-2"]),
        "task.not_ready 3",
        "T-3 cannot be taken yet.\nIt comes after T-1, T-2.\nNext: run `lineclear task next`.",
    ),
    (
        words.task_cycle,
        ([1, 2, 3, 1],),
        "task.cycle 2",
        "T-1 cannot come after T-2: none of them would ever be ready.\n"
        "The circle is T-1 -> T-2 -> T-3 -> T-1.\n"
        "Next: run `lineclear task show T-2`.",
    ),
    (
        words.import_cycle,
        (["api", "ui", "api"],),
        "task.cycle 2",
        "The list cannot be imported: some tasks wait for each other.\n"
        "The circle is api -> ui -> api.\n"
        "Next: run `lineclear task import --help`.",
    ),
    (
        words.task_is_same,
        ("T-2", "T-1"),
        "task.same 2",
        "T-2 is itself the same as T-1.\nNext: run `lineclear task show T-1`.",
    ),
    (
        words.no_task,
        (2, 1, 0),
        "task.none 5",
        "There is no task for you now.\n"
        "Of the unfinished ones 2 need skills you have not named, 1 wait for others.\n"
        "Next: run `lineclear task list`.",
    ),
    (
        words.no_task,
        (0, 0, 3),
        "task.none 5",
        "There is no task for you now.\n"
        "Of the unfinished ones 3 are being worked on.\n"
        "Next: run `lineclear task list`.",
    ),
    (
        words.no_task,
        (0, 0, 0),
        "task.none 5",
        "There is no task for you now.\nThe list is empty.\nNext: run `lineclear task list`.",
    ),
    (
        words.task_needs,
        ("T-2", ["codex", "gpu"]),
        "task.needs 4",
        "T-2 needs what you have not said you are.\n"
        "Missing: codex, gpu.\n"
        "Next: run `lineclear task next T-2 --can codex`.",
    ),
    (
        words.value_stale,
        ("plan", 1, 3, "ann"),
        "value.stale 7",
        'The value "plan" has moved on from version 1; nothing was written.\n'
        "Version 3 is current, written by ann.\n"
        "Next: run `lineclear value get plan`.",
    ),
    (
        words.value_stale,
        ("plan", None, 3, "ann"),
        "value.stale 7",
        'The value "plan" is not yours alone; say which version you read.\n'
        "Version 3 is current, written by ann.\n"
        "Next: run `lineclear value get plan`.",
    ),
    (
        words.value_stale,
        ("plan", 2, 0, ""),
        "value.stale 7",
        'The value "plan" has moved on from version 2; nothing was written.\n'
        "Version 0 is current.\n"
        "Next: run `lineclear value get plan`.",
    ),
    (
        words.value_exists,
        ("plan", 3, "ann"),
        "value.exists 7",
        'The value "plan" exists already; nothing was written.\n'
        "ann wrote version 3.\n"
        "Next: run `lineclear value get plan`.",
    ),
    (
        words.write_held,
        ("value:plan", claim("ann", "value:plan"), NOW),
        "write.held 3",
        "value:plan is not yours to write.\n"
        "ann holds value:plan until 12:12 UTC (in 12 min).\n"
        "Next: run `lineclear propose value:plan JSON`.",
    ),
    (
        words.lock_first,
        ("value:plan",),
        "write.unlocked 4",
        "value:plan is shared by locking; you do not hold it.\n"
        "Next: run `lineclear claim value:plan --mode exclusive`.",
    ),
    (
        words.read_only,
        ("value:plan",),
        "write.read_only 4",
        "value:plan is read-only for agents.\nlineclear.toml says so.\nNext: run `lineclear who value:plan`.",
    ),
    (
        words.not_the_writer,
        ("value:plan", "ann"),
        "write.not_owner 4",
        "value:plan has a single writer, and it is not you.\n"
        "ann writes it.\n"
        "Next: run `lineclear propose value:plan JSON`.",
    ),
    (
        words.not_the_writer,
        ("value:plan", ""),
        "write.not_owner 4",
        "value:plan has a single writer, and it is not you.\n"
        "Nobody owns it now.\n"
        "Next: run `lineclear claim value:plan --mode exclusive`.",
    ),
    (
        words.not_the_writer,
        ("file:docs/plan.md", "ann"),
        "write.not_owner 4",
        "file:docs/plan.md has a single writer, and it is not you.\n"
        "ann writes it.\n"
        "Next: run `lineclear propose file:docs/plan.md --file PATH`.",
    ),
    (
        words.not_the_owner,
        ("value:plan", "ann"),
        "proposal.not_owner 4",
        "Deciding about value:plan is not yours.\nann decides.\nNext: run `lineclear proposal list`.",
    ),
    (
        words.not_the_owner,
        ("value:plan", ""),
        "proposal.not_owner 4",
        "Deciding about value:plan is not yours.\n"
        "Nobody owns it now; a person may decide.\n"
        "Next: run `lineclear proposal list`.",
    ),
    (
        words.proposal_decided,
        (9, "rejected", "ann"),
        "proposal.decided 7",
        "Proposal 9 is decided: rejected.\nann decided it.\nNext: run `lineclear proposal show 9`.",
    ),
    (
        words.proposal_out_of_order,
        (12, 9, "value:plan"),
        "proposal.order 3",
        "Proposal 12 cannot be accepted yet.\n"
        "Proposal 9 for value:plan is older and still open.\n"
        "Next: run `lineclear proposal show 9`.",
    ),
    (
        words.proposal_stale,
        (9, "value:plan", 1, 3),
        "proposal.stale 7",
        "Proposal 9 is based on an old version; nothing was written.\n"
        "It starts from version 1 of value:plan, 3 is current.\n"
        "Next: run `lineclear proposal reject 9 --reason 'based on an old version'`.",
    ),
    (
        words.copy_exists,
        ("draft",),
        "copy.exists 7",
        'There is a copy "draft" already.\nNext: run `lineclear value merge draft`.',
    ),
    (
        words.copy_not_yours,
        ("draft", "ann"),
        "copy.not_yours 4",
        'The copy "draft" is not yours.\nann made it.\nNext: run `lineclear value list`.',
    ),
    (
        words.copy_conflicts,
        ("draft", [{"key": "plan", "pointer": "/a"}, {"key": "team", "pointer": ""}]),
        "copy.conflict 7",
        'The copy "draft" cannot be merged: both sides changed the same things. Nothing was written.\n'
        "2 in conflict: plan at /a, team at the whole value.\n"
        "Next: run `lineclear value get plan`.",
    ),
    (
        words.bad_usage,
        ("lineclear claim", "a resource is missing"),
        "usage 2",
        "lineclear claim: a resource is missing.\nNext: run `lineclear claim --help`.",
    ),
    (
        words.bad_arguments,
        ("claim", "resources is missing", 'claim {"resources": ["a"]}'),
        "usage 2",
        'claim: resources is missing.\nNext: call `claim {"resources": ["a"]}`.',
    ),
    (
        words.unknown_verb,
        ("clam", "claim"),
        "usage.verb 2",
        'There is no verb "clam".\nDid you mean "claim"?\nNext: run `lineclear claim --help`.',
    ),
    (
        words.unknown_verb,
        ("xyz", ""),
        "usage.verb 2",
        'There is no verb "xyz".\nNext: run `lineclear --help`.',
    ),
    (
        words.our_bug,
        ("KeyError: 'x'", "claims.py:12"),
        "bug 1",
        "This is a bug in lineclear; your command was not carried out, or its outcome is unknown.\n"
        "KeyError: 'x' (claims.py:12); LINECLEAR_DEBUG=1 shows more.\n"
        "Next: run `lineclear audit`.",
    ),
    (
        words.no_commit,
        ("/r",),
        "repo.empty 5",
        "/r has no commit yet, so its clones share nothing to be known by.\n"
        "Next: run `git commit --allow-empty -m 'first commit'`.",
    ),
    (
        words.team_store_unknown,
        ("shop-12",),
        "store.team 5",
        "This repository is coordinated by a team's store, which this clone does not know yet.\n"
        'lineclear.toml calls it "shop-12"; ask a colleague for the URL.\n'
        "Next: run `lineclear init --store postgresql://HOST/DATABASE`.",
    ),
    (
        words.lock_file_held,
        ("src/a.py", "a.py.agent-lock", "other tool", 3),
        "claim.lock_file 3",
        "src/a.py is locked by a file that lineclear did not write.\n"
        'a.py.agent-lock is 3 min old; it counts for 30 min. It says "other tool".\n'
        "Next: run `lineclear who src/a.py`.",
    ),
    (
        words.lock_file_held,
        ("src/a.py", "a.py.agent-lock", "", 0),
        "claim.lock_file 3",
        "src/a.py is locked by a file that lineclear did not write.\n"
        "a.py.agent-lock is 0 min old; it counts for 30 min.\n"
        "Next: run `lineclear who src/a.py`.",
    ),
    (
        words.file_travels,
        ("TASKS.md",),
        "gate.mirrored 4",
        "TASKS.md is written by lineclear, anew in every worktree; it does not travel with work.\n"
        "Next: run `git rm --cached TASKS.md`.",
    ),
    (
        words.block_edited,
        ("AGENTS.md", "lineclear setup conventions --force"),
        "conventions.edited 7",
        "The block of lineclear in AGENTS.md was changed by hand.\n"
        "Those words would be lost. Move them out of its two marks first.\n"
        "Next: run `lineclear setup conventions --force`.",
    ),
    (
        words.block_broken,
        ("AGENTS.md", "its marks are out of order"),
        "conventions.broken 4",
        "AGENTS.md is left as it is: its marks are out of order.\n"
        "Put the marks in order, or take them both out.\n"
        "Next: run `lineclear setup conventions --dry-run`.",
    ),
    (
        words.not_trusted,
        ([Stated("worktrees.setup[0]", "npm ci")],),
        "trust.missing 4",
        "worktrees.setup[0] of lineclear.toml is not trusted.\n"
        'It says "npm ci"; a person looks at it before it counts.\n'
        "Next: run `lineclear trust`.",
    ),
    (
        words.not_trusted,
        ([Stated("checks.gate", "make check")] * 3,),
        "trust.missing 4",
        "checks.gate of lineclear.toml is not trusted, nor 2 more.\n"
        'It says "make check"; a person looks at it before it counts.\n'
        "Next: run `lineclear trust`.",
    ),
    (
        words.price_unknown,
        ("reviewer", "large-2", "budgets.run_money", "$5.00"),
        "budget.price 9",
        "reviewer is not started: nobody would know what it costs.\n"
        "budgets.run_money allows $5.00, but its client tells no cost and [prices] has no price for "
        "model large-2.\n"
        "Next: run `lineclear config show`.",
    ),
    (
        words.price_unknown,
        ("reviewer", "", "budgets.day_money", "$5.00"),
        "budget.price 9",
        "reviewer is not started: nobody would know what it costs.\n"
        "budgets.day_money allows $5.00, but its client tells no cost and [prices] has no price for "
        "its model.\n"
        "Next: run `lineclear config show`.",
    ),
    (
        words.budget_spent,
        (Breach("day", "money", Amount(20_400_000), 20_000_000),),
        "budget.spent 9",
        "No run is started: nothing is left of the day's money.\n"
        "day money: used $20.40, allowed $20.00; the limit is budgets.day_money.\n"
        "Next: run `lineclear config show`.",
    ),
    (
        words.branch_unknown,
        ("topic",),
        "branch.unknown 5",
        'There is no branch "topic" here.\nNext: run `git branch --list`.',
    ),
    (
        words.branch_unknown,
        ("topic", "T-3"),
        "branch.unknown 5",
        'There is no branch "topic" here.\n'
        "T-3 stays with you until it is handed over with one that is.\n"
        "Next: run `git branch --list`.",
    ),
    (
        words.branch_is_main,
        ("main",),
        "land.main 2",
        "main is the branch that work lands on; it cannot land on itself.\n"
        "Next: run `lineclear land BRANCH`.",
    ),
    (
        words.no_branch,
        ("/srv/shop",),
        "land.detached 2",
        "/srv/shop is on no branch, so there is nothing to name.\nNext: run `git switch -c BRANCH`.",
    ),
    (
        words.main_unborn,
        ("main",),
        "land.unborn 5",
        'The branch that work lands on, "main", has no commit here.\n'
        "Next: run `git branch --list --all '*main'`.",
    ),
    (
        words.unrelated,
        ("topic", "main"),
        "land.unrelated 4",
        "topic and main share no history, so there is nothing to merge against.\n"
        "Next: run `git log --oneline --max-count 5 topic`.",
    ),
    (
        words.nothing_to_land,
        ("topic", "main", "T-7"),
        "land.nothing 5",
        "topic holds no commit that main does not have.\n"
        "T-7 stays yours; commit your work first, or end it without a branch.\n"
        "Next: run `git status`.",
    ),
    (
        words.other_branch,
        ("T-7", "topic", "other"),
        "land.other_branch 2",
        "T-7 was handed over with the branch topic, not other.\nNext: run `lineclear land --task T-7`.",
    ),
    (
        words.not_as_asked,
        ("T-7", "its branch holds no change"),
        "land.rejected 6",
        "The work is not yet what T-7 asks for: its branch holds no change\n"
        "Nothing was landed, and the task stays with you.\n"
        "Next: run `lineclear task show T-7`.",
    ),
    (
        words.landing_busy,
        (120,),
        "land.busy 8",
        "Another landing has been under way in this clone for more than 120 s.\n"
        "Next: run `lineclear log --since 1h`.",
    ),
    (
        words.git_failed,
        ("commit-tree", "error: insufficient permission\nfatal: failed to write commit object"),
        "git.failed 1",
        "git commit-tree failed: fatal: failed to write commit object\n"
        "Next: run `git fsck --connectivity-only`.",
    ),
]


@pytest.mark.parametrize(("function", "arguments", "code", "text"), TABLE)
def test_what_is_said(
    function: Callable[..., Refusal], arguments: tuple[Any, ...], code: str, text: str
) -> None:
    refusal = function(*arguments)
    assert (f"{refusal.code} {refusal.exit_code}", str(refusal)) == (code, text)
    assert len(text) <= 300
    assert len(text.splitlines()) <= 3


def test_every_refusal_stands_in_the_table() -> None:
    assert set(refusing_functions()) == {function.__name__ for function, *_ in TABLE}


def test_the_facts_are_there_as_data() -> None:
    wanted = blocker("ann", "src/", wanted="src/a.py", note="login form", task=41)
    refusal = words.claim_held(wanted, ASKED, NOW, 1)
    assert refusal.as_data() == {
        "code": "claim.held",
        "message": "file:src/a.py is not yours to take (exclusive). ann holds file:src/ (exclusive) "
        'until 12:12 UTC (in 12 min) for T-41, "login form".',
        "next": "lineclear claim file:src/a.py --mode exclusive --wait 10m",
        "resource": "file:src/a.py",
        "holder": "ann",
        "held": "file:src/",
        "mode": "exclusive",
        "expires_at": "2026-01-01T12:12:00Z",
        "task": "T-41",
        "note": "login form",
        "blockers": 1,
    }


@pytest.mark.parametrize("text", ["plain/file.py", "a b", "it's", "$(rm x)", "`x`", "", "a\nb", "-n", "é"])
def test_a_quoted_word_is_one_word_for_a_shell(text: str) -> None:
    assert shlex.split(quote(text)) == [text]


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        ("short", 10, "short"),
        ("exactly 10", 10, "exactly 10"),
        ("longer than 10", 10, "longer ..."),
        ("two\nlines\x1b[31m", 40, "two\ufffdlines\ufffd[31m"),
        ("\udcff", 10, "\ufffd"),
    ],
)
def test_somebodys_words_are_shown_on_one_bounded_line(text: str, limit: int, shown: str) -> None:
    assert shorten(text, limit) == shown
