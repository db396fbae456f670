"""What is gathered for the author of work that came back."""

from __future__ import annotations

import pytest

from lineclear.app.queue.returned_work import brief_for
from lineclear.core.log.tables import TASK, Task
from lineclear.core.queue.conflict_sides import Touch
from lineclear.core.queue.return_letter import CONFLICT, render
from tests.touches import CONFLICTS, TOUCHES, with_two_tasks
from tests.world import World

OWN = [Touch("d1", "Ada", "Begin", paths=["a.py"])]


@pytest.fixture
def world() -> World:
    """T-1 is ben's, on main; T-2 came back to ada."""
    return with_two_tasks()


def task(world: World) -> Task:
    found = world.store.read(lambda view: view.get(TASK, (2,)))
    assert found is not None
    return found


def test_the_brief_holds_files_symbols_and_the_others_but_not_the_author_itself(world: World) -> None:
    row = task(world)
    brief = world.store.read(
        lambda view: brief_for(
            view, CONFLICT, row, branch="ada", main="main", why="it does not fit", conflicts=CONFLICTS,
            files=["z.py", "a.py"], touches=TOUCHES, own=OWN, is_prepared=True,
        )
    )  # fmt: skip
    assert (brief.task, brief.files, brief.symbols) == ("T-2", ["z.py", "a.py"], ["login"])
    assert [(other.task, other.title) for other in brief.others] == [
        ("", "Fix a typo"),
        ("T-1", "Ask for a code"),
    ]
    assert '> T-1 by ben, last in c2 "Ask for a code"\n' in render(brief)
    assert '> T-2 by Ada, last in d1 "Write an audit log"\n' in render(brief)
