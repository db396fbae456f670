"""What two sides did to the files that they both changed, and two tasks that they did it for."""

from __future__ import annotations

from typing import Any

from lineclear.app import tasks
from lineclear.app.ports import Caller
from lineclear.core.queue.conflict_sides import Touch
from lineclear.core.tasks.lists import TaskDraft
from tests.world import World

ANNA = Caller("anna", is_person=True)
TOUCHES = [
    Touch("c3", "Anna", "Fix a typo", paths=["b.py"]),
    Touch("c2", "Bob", "Land T-1: as it was called then", task="T-1", agent="ben", paths=["a.py", "b.py"]),
    Touch("c1", "Ada", "Land T-2: an earlier part", task="T-2", agent="ada", paths=["a.py"]),
]
CONFLICTS: list[dict[str, Any]] = [
    {"path": "a.py", "kind": "content", "symbols": ["login"], "first_line": 3},
    {"path": "", "kind": "route", "paths": ["b.py", "c.py"], "text": "both have /x"},
]


def with_two_tasks() -> World:
    world = World()
    for title in ("Ask for a code", "Write an audit log"):
        tasks.add(world.store, ANNA, TaskDraft("", title))
    return world
