"""Every door gives the same answer to "may this agent write this, now?".

Random facts are set up in a memory store, once for each door, and each door is asked through its own entry
function. A disagreement that is not one of the documented arguments of core/claims/write_rule.py fails the
test. The facts exist twice, for a file and for a value of the same name, so that values can be compared too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import Phase, example, find, given, settings
from hypothesis import strategies as st

from lineclear.app import claims, commit_gate, values, write_facts
from lineclear.app.agents.membership import ensure_agent
from lineclear.app.hooks import judging
from lineclear.app.hooks.ports import ShellChange
from lineclear.app.hooks.team import refusal_alone
from lineclear.app.ports import Caller, NobodyDies
from lineclear.app.queue import phases
from lineclear.core.agents.hooks import BEFORE_EDIT, HookCall
from lineclear.core.agents.names import is_family
from lineclear.core.claims.granting import EXCLUSIVE, INTENT
from lineclear.core.claims.strategies import (
    ISOLATED,
    LOCKED,
    OPTIMISTIC,
    READ_ONLY,
    SINGLE_WRITER,
    STRATEGIES,
    Rule,
)
from lineclear.core.claims.write_rule import LANDING, Write, WriteVerdict
from lineclear.core.queue.phases import INTEGRATE, INTEGRATOR, PARALLEL, TEST
from lineclear.core.words.refusals import Refusal
from lineclear.git.layout import find_layout
from lineclear.wiring.hooks import files_of
from lineclear.wiring.repo import read_settings
from tests.hook_sessions import FakeSession
from tests.repository import TemporaryRepo
from tests.world import HOUR_MS, MINUTE_MS, World, resource

PATH = "src/a.py"
CODE = """def load():
    return 0


class Login:
    def check(self):
        return 1

    def leave(self):
        return 2
"""
INSIDE, OUTSIDE, UNKNOWN = "inside", "outside", "unknown"
# What the edit replaces: a line of the held symbol, a line elsewhere, or nobody knows what.
REPLACED = {INSIDE: ("        return 1",), OUTSIDE: ("    return 0",), UNKNOWN: ()}
SAME, DIRECTORY, GLOB, SYMBOL, ELSEWHERE = "same", "directory", "glob", "symbol", "elsewhere"
FILES = {
    SAME: "file:src/a.py",
    DIRECTORY: "file:src/",
    GLOB: "file:**/*.py",
    SYMBOL: "symbol:src/a.py#Login.check",
    ELSEWHERE: "file:docs/",
}
VALUES = {SAME: "value:src/a.py", DIRECTORY: "value:src", GLOB: "value:src/*", ELSEWHERE: "value:docs"}
PERSON = Caller("pat", is_person=True)
# The hook has words and codes of its own for a model in the middle of an edit; they mean the same.
MEANS = {
    "is read-only for agents": "write.read_only",
    "until then, propose changes": "write.phase",
    "is being integrated": "write.integrated",
    "has a single writer": "write.not_owner",
    "Cannot claim": "write.held",
    "no longer covers": "fence.stale",
    "is locked: only one agent": "write.unlocked",
    "is in another agent's worktree": "gate.foreign_tree",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    agent: str
    mode: str = EXCLUSIVE
    on: str = SAME
    is_lapsed: bool = False
    bond: str = ""  # of the claim: "", "alive" or "dead"
    process: str = ""  # the bond of the agent itself


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Who wants to write what, where, and all that speaks for or against it."""

    strategy: str = ISOLATED
    owner: str = ""
    bound: str = ""
    phase: str = PARALLEL
    writer: str = "ada"
    is_person: bool = False
    holders: tuple[Holder, ...] = ()
    past: tuple[str, ...] = ()  # who was granted it before, and gave it back
    has_fence: bool = False  # the writer still works under the first of those grants
    is_foreign: bool = False
    is_shared: bool = False
    place: str = UNKNOWN


class Set:
    """A scene, set up in a store of its own."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.world, self.fence = scene, World(), 0
        self.rules = [
            Rule(resource(name), scene.strategy, scene.owner, phase=scene.bound)
            for name in (f"file:{PATH}", f"value:{PATH}")
        ]
        own = "team/main" if scene.is_shared else "team/ada"
        self.caller = Caller(scene.writer, is_person=scene.is_person, tree=own)
        self.place = "team/ben" if scene.is_foreign else own
        # Who joins again has come later: what an agent held before that is from an earlier time.
        bonds = {holder.agent: f"agent-{holder.agent}" for holder in scene.holders if holder.process}
        for agent in dict.fromkeys((scene.writer, "ben", *bonds)):
            self._join(Caller(agent, tree=self._home(agent), bond=bonds.get(agent, "")))
        for agent in scene.past:
            tree = self._home(agent)
            answer = self.world.ask(agent, f"file:{PATH}", f"value:{PATH}", tree=tree)
            if not self.fence and scene.has_fence and is_family(agent, scene.writer):
                self.fence = answer["fence"]
            claims.release(self.world.store, Caller(agent, tree=tree), [], everything=True)
        # An exclusive claim goes over the intents on a file, not over those on a value.
        for holder in sorted(scene.holders, key=lambda holder: holder.mode):
            self._hold(holder)
        if scene.phase != PARALLEL:
            phases.begin(self.world.store, PERSON, [], INTEGRATE)
        if scene.phase == TEST:
            phases.begin(self.world.store, PERSON, [], TEST)
        self.world.clock.advance(2 * MINUTE_MS)
        for holder in scene.holders:
            for bond, state in (
                (f"with-{holder.agent}", holder.bond),
                (f"agent-{holder.agent}", holder.process),
            ):
                if state == "dead":
                    self.world.liveness.dead.add(bond)

    def _home(self, agent: str) -> str:
        return self.caller.tree if agent == self.caller.name else f"team/{agent}"

    def _join(self, caller: Caller) -> None:
        self.world.store.transact(caller, lambda tx: ensure_agent(tx, caller))

    def _hold(self, holder: Holder) -> None:
        on = holder.on
        # A value has no symbols: there, another agent's stands for the whole where it is touched.
        is_free = self.scene.place == OUTSIDE or is_family(holder.agent, self.scene.writer)
        value_on = on if on != SYMBOL else ELSEWHERE if is_free else SAME
        for name in (FILES[on], VALUES[value_on]):
            try:
                self.world.ask(
                    holder.agent, name, mode=holder.mode, tree=self._home(holder.agent),
                    ttl_ms=MINUTE_MS if holder.is_lapsed else HOUR_MS,
                    bond=f"with-{holder.agent}" if holder.bond else "",
                )  # fmt: skip
            except Refusal:
                return  # two that exclude each other: the first one has it

    @property
    def session(self) -> FakeSession:
        return FakeSession(
            self.world, self.caller, self.rules, place=self.place, is_shared=self.scene.is_shared,
            fence=self.fence, texts={PATH: CODE},
        )  # fmt: skip


# -- the doors ------------------------------------------------------------------------------------


def edit(scene: Scene) -> str:
    call = HookCall("claude", BEFORE_EDIT, paths=(PATH,), replaced=REPLACED[scene.place], can_tell=True)
    answer = Set(scene).session.answer(call)
    return meaning(answer.reason) if answer.is_denied else ""


def shell(scene: Scene) -> str:
    notes = Set(scene).session.judge_changes([ShellChange(PATH, "git restore", True)])
    return meaning(notes[0]) if notes else ""


def commit(scene: Scene) -> str:
    made = Set(scene)
    found = commit_gate.examine_commit(
        made.world.store, made.world.liveness, made.rules, scene.writer, made.place, [resource(PATH)],
        fence_of=lambda _resource: made.fence, touches=lambda _resource, _symbol: scene.place != OUTSIDE,
    )  # fmt: skip
    return found[0].kind if found else ""


def landing(scene: Scene) -> str:
    made = Set(scene)
    found = commit_gate.examine_landing(
        made.world.store, made.world.liveness, made.rules, scene.writer, [resource(PATH)],
        touches=lambda _resource, _symbol: scene.place != OUTSIDE,
    )  # fmt: skip
    return found[0].kind if found else ""


def value(scene: Scene) -> str:
    made = Set(scene)
    world = made.world
    try:
        values.put(world.store, world.liveness, made.caller, made.rules, PATH, "1", fence=made.fence)
    except Refusal as refusal:
        return refusal.code
    return ""


class Alone:
    """The hook while the team's store is out of reach; it has the settings and nothing else."""

    def __init__(self, repo: TemporaryRepo) -> None:
        layout = find_layout(str(repo.path), {})
        self._files = files_of(layout, read_settings(layout, repo.environment), str(repo.path))

    def __call__(self, scene: Scene) -> str:
        call = HookCall("claude", BEFORE_EDIT, paths=(PATH,))
        found = refusal_alone(call, self._files, Set(scene).rules, scene.writer)
        return found.code if found is not None else ""


@pytest.fixture(scope="module")
def alone(shared_repo: TemporaryRepo) -> Alone:
    return Alone(shared_repo)


def meaning(words: str) -> str:
    (code,) = {code for phrase, code in MEANS.items() if phrase in words}
    return code


# -- comparing ------------------------------------------------------------------------------------


def disagreements(scene: Scene, alone: Alone | None = None) -> list[str]:
    """What the doors say differently, apart from the documented arguments of the rule."""
    found = []

    def compare(door: str, said: str, wanted: str) -> None:
        if said != wanted:
            found.append(f"{door} says {said or 'yes'!r}, others {wanted or 'yes'!r}: {scene}")

    edited, committed = edit(scene), commit(scene)
    at_home = replace(scene, is_foreign=False)
    edited_at_home = edit(at_home) if scene.is_foreign else edited
    held_before = any(is_family(agent, scene.writer) for agent in scene.past) or any(
        is_family(holder.agent, scene.writer) for holder in scene.holders
    )
    if not (edited == "write.unlocked" and held_before and committed in ("", "fence.stale")):
        compare("commit", committed, edited)
    compare("shell", shell(scene), edit(replace(scene, place=UNKNOWN)))
    # A landing asks neither for the worktree nor for a fence; the integrator's lands in any phase.
    landed, wanted = landing(scene), commit(replace(at_home, has_fence=False))
    is_integrated = is_family(INTEGRATOR, scene.writer) and scene.bound
    if not (is_integrated and wanted == "write.phase" and landed != "write.phase"):
        compare("landing", landed, wanted)
    if scene.is_person and (scene.strategy == READ_ONLY or scene.bound):
        free = replace(
            at_home, bound="", strategy=ISOLATED if scene.strategy == READ_ONLY else scene.strategy
        )
        compare("a person's value", value(scene), edit(free))
    else:
        compare("value", value(scene), edited_at_home)
    if alone is not None:
        compare("alone", alone(scene), _unasked(scene))
    return found


def _unasked(scene: Scene) -> str:
    """Without the store: what exists once is left alone."""
    if scene.strategy == READ_ONLY:
        return "write.read_only"
    is_owner = bool(scene.owner) and is_family(scene.owner, scene.writer)
    is_single = scene.strategy == LOCKED or (scene.strategy == SINGLE_WRITER and not is_owner)
    return "gate.unreachable" if scene.bound or is_single else ""


HOLDERS = st.builds(
    Holder,
    agent=st.sampled_from(("ben", "cat", "ada", "ada/one")),
    mode=st.sampled_from((EXCLUSIVE, EXCLUSIVE, INTENT)),
    on=st.sampled_from((SAME, DIRECTORY, GLOB, SYMBOL, SYMBOL, ELSEWHERE)),
    is_lapsed=st.booleans(),
    bond=st.sampled_from(("", "alive", "dead")),
    process=st.sampled_from(("", "alive", "dead")),
)
SCENES = st.builds(
    Scene,
    strategy=st.sampled_from(STRATEGIES),
    owner=st.sampled_from(("", "ada", "ben")),
    bound=st.sampled_from(("", "", INTEGRATE, TEST)),
    phase=st.sampled_from((PARALLEL, INTEGRATE, TEST)),
    writer=st.sampled_from(("ada", "ada/one", "ada/two", INTEGRATOR)),
    is_person=st.booleans(),
    holders=st.lists(HOLDERS, max_size=3, unique_by=lambda holder: holder.agent).map(tuple),
    past=st.lists(st.sampled_from(("ada", "ben", "ada/one")), max_size=3).map(tuple),
    has_fence=st.booleans(),
    is_foreign=st.booleans(),
    is_shared=st.booleans(),
    place=st.sampled_from((INSIDE, OUTSIDE, UNKNOWN)),
)

DEAD_WITH = Scene(holders=(Holder(agent="ben", bond="dead"),))
DEAD_AGENT = Scene(holders=(Holder(agent="ben", process="dead"),))
HELD_SYMBOL = Scene(holders=(Holder(agent="ben", on=SYMBOL),))
HELD_READ_ONLY = Scene(strategy=READ_ONLY, holders=(Holder(agent="ben"),))


@settings(max_examples=150, deadline=None)
@example(DEAD_WITH)
@example(DEAD_AGENT)
@example(HELD_SYMBOL)
@example(replace(HELD_SYMBOL, place=INSIDE))
@example(replace(HELD_SYMBOL, place=OUTSIDE))
@example(replace(HELD_SYMBOL, place=OUTSIDE, is_shared=True))
@example(HELD_READ_ONLY)
@example(replace(HELD_READ_ONLY, is_foreign=True))
@example(Scene(past=("ada", "ben"), has_fence=True))
@given(SCENES)
def test_every_door_gives_the_same_answer(alone: Alone, scene: Scene) -> None:
    assert disagreements(scene, alone) == []


@pytest.mark.parametrize(
    ("scene", "code"),
    [
        (Scene(holders=(Holder(agent="ben"),)), "write.held"),
        (DEAD_WITH, ""),
        (DEAD_AGENT, ""),
        (replace(DEAD_WITH, holders=(Holder(agent="ben", bond="alive"),)), "write.held"),
        (HELD_SYMBOL, "write.held"),
        (replace(HELD_SYMBOL, place=INSIDE), "write.held"),
        (replace(HELD_SYMBOL, place=OUTSIDE), ""),
        (HELD_READ_ONLY, "write.read_only"),
        (Scene(past=("ada", "ben"), has_fence=True), "fence.stale"),
        (Scene(is_foreign=True), "gate.foreign_tree"),
        (Scene(strategy=OPTIMISTIC, bound=INTEGRATE), "write.phase"),
        (Scene(strategy=LOCKED), "write.unlocked"),
        (Scene(strategy=SINGLE_WRITER, owner="ben"), "write.not_owner"),
        (Scene(strategy=SINGLE_WRITER), "write.not_owner"),
    ],
)
def test_what_every_door_says(scene: Scene, code: str) -> None:
    said = {"edit": edit(scene), "commit": commit(scene)}
    if not scene.is_foreign:
        said["value"] = value(scene)
    if not scene.is_foreign and not scene.has_fence:
        said["landing"] = landing(scene)
    if scene.place != OUTSIDE:
        said["shell"] = shell(scene)
    assert said == dict.fromkeys(said, code)


# -- the comparison itself ------------------------------------------------------------------------


def _ignores_bonds(view: Any, _liveness: Any, rules: list[Rule], write: Write) -> WriteVerdict:
    return write_facts.judge(view, NobodyDies(), rules, write)


def _skips_symbols(view: Any, liveness: Any, rules: list[Rule], write: Write) -> WriteVerdict:
    write.touches = lambda _symbol: False
    return write_facts.judge(view, liveness, rules, write)


def _asks_for_holders_first(view: Any, liveness: Any, rules: list[Rule], write: Write) -> None:
    open_rules = [Rule(rule.resource, ISOLATED) for rule in rules]
    write_facts.refuse_write(view, liveness, open_rules, write)
    write_facts.refuse_write(view, liveness, rules, write)


def _lands_in_any_phase(view: Any, liveness: Any, rules: list[Rule], write: Write) -> WriteVerdict:
    unbound = [Rule(rule.resource, rule.strategy, rule.owner) for rule in rules]
    return write_facts.judge(view, liveness, unbound if write.action == LANDING else rules, write)


def _ignores_the_fence(view: Any, liveness: Any, rules: list[Rule], write: Write) -> WriteVerdict:
    write.fence = 0
    return write_facts.judge(view, liveness, rules, write)


@pytest.mark.parametrize(
    ("module", "name", "wrong"),
    [
        (judging, "judge_write", _ignores_bonds),
        (commit_gate, "judge", _skips_symbols),
        (values, "refuse_write", _asks_for_holders_first),
        (commit_gate, "judge", _lands_in_any_phase),
        (judging, "judge_write", _ignores_the_fence),
    ],
    ids=["bonds", "symbols", "read-only", "phase", "fence"],
)
def test_a_door_with_a_rule_of_its_own_would_be_noticed(
    monkeypatch: pytest.MonkeyPatch, module: Any, name: str, wrong: Callable[..., Any]
) -> None:
    monkeypatch.setattr(module, name, wrong)
    quick = settings(max_examples=3_000, deadline=None, database=None, phases=[Phase.generate])
    assert disagreements(find(SCENES, lambda scene: bool(disagreements(scene)), settings=quick))
