"""The commit gate with and without the store, on what a fake git says is brought in."""

from __future__ import annotations

from collections.abc import Sequence

from lineclear.app.commit_gate import CommitGate, GateRules, judge_alone
from lineclear.app.ports import Caller
from lineclear.core.claims.strategies import READ_ONLY, Rule
from tests.world import World, resource

MAIN = "refs/heads/main"
ADA = Caller("ada", tree="ada")
ZERO = "0" * 40


class FakeIncoming:
    """The commit `old` is on main; each other one brings in a file of its name."""

    main = head = MAIN

    def __init__(self, staged: Sequence[str] = (), new: Sequence[str] = ()) -> None:
        self._staged, self._new = list(staged), set(new)

    def staged_paths(self) -> list[str]:
        return self._staged

    def staged_new(self, paths: Sequence[str]) -> list[str]:
        return [path for path in paths if path in self._new]

    def staged_texts(self, path: str) -> tuple[str, str]:
        return "", path

    def staged_marked(self) -> list[str]:
        return []

    def pushed_paths(self, local: str) -> list[str]:
        return [f"{local}.py"] if local.strip("0") else []

    def pushed_texts(self, local: str, path: str) -> tuple[str, str]:
        return "", path

    def texts_between(self, base: str, tip: str, path: str) -> tuple[str, str]:
        return base, tip

    def is_on_main(self, commit: str) -> bool:
        return commit == "old"


RULES = GateRules(
    [Rule(resource("file:LICENSE"), READ_ONLY)], fold_case=False, nfc=False,
    is_for_agents=lambda path: path == "STATUS.md",
)  # fmt: skip


def gate(world: World, git: FakeIncoming) -> CommitGate:
    return CommitGate(world.store, world.liveness, RULES, git, tree="ada", environ={})


def push(local: str, remote_ref: str = "refs/heads/side") -> str:
    return f"refs/heads/side {local} {remote_ref} {ZERO}"


def test_a_commit_of_a_held_file_and_of_a_file_that_we_write_is_found() -> None:
    world = World()
    world.ask("ben", "file:a.py", tree="ben")
    git = FakeIncoming(["a.py", "b.py", "STATUS.md"], new=["STATUS.md"])
    found = gate(world, git).judge("pre-commit", ADA, [])
    assert [(one.path, one.kind) for one in found] == [
        ("a.py", "write.held"),
        ("STATUS.md", "gate.mirrored"),
    ]


def test_a_push_of_something_new_to_main_is_found_and_one_of_the_old_is_not() -> None:
    judge = gate(World(), FakeIncoming()).judge
    assert [one.kind for one in judge("pre-push", ADA, [push("new", MAIN)])] == ["gate.main"]
    assert judge("pre-push", ADA, [push("old", MAIN), push(ZERO, MAIN), "half a line"]) == []


def test_of_refs_that_move_the_first_forbidden_one_is_told() -> None:
    lines = [f"{ZERO} 1 refs/heads/side", f"{ZERO} 1 refs/lineclear/x", f"{ZERO} 1 {MAIN}"]
    found = gate(World(), FakeIncoming()).judge("reference-transaction", ADA, lines)
    assert [(one.path, one.kind) for one in found] == [("refs/lineclear/x", "gate.ref")]


def test_without_the_store_the_rules_and_the_refs_still_count() -> None:
    def alone(hook: str, lines: Sequence[str], given: str = "ada") -> tuple[list[str], bool]:
        git = FakeIncoming(["LICENSE", "a.py"])
        found, is_person = judge_alone(git, RULES, {}, hook=hook, lines=lines, given=given, tree="ada")
        return [one.kind for one in found], is_person

    assert alone("pre-commit", []) == (["write.read_only"], False)
    assert alone("pre-commit", [], given="") == (["write.read_only"], True)
    assert alone("pre-push", [push("new", MAIN)]) == (["gate.main"], False)
    assert alone("pre-push", [push("LICENSE")]) == ([], False)
    assert alone("reference-transaction", [f"{ZERO} 1 {MAIN}"]) == (["gate.main"], False)
