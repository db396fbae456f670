"""One path identity: whatever way a resource is written, it meets the same claim. Every row counts."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest

from lineclear.app.claims import ask
from lineclear.app.ports import Caller
from lineclear.core.claims.granting import EXCLUSIVE, Request
from lineclear.core.words.refusals import Refusal
from lineclear.wiring.repo import Repo, open_repo
from lineclear.wiring.starting import init_repo
from tests.repository import TemporaryRepo

NFC = unicodedata.normalize("NFC", "d/caf\u00e9.py")
NFD = unicodedata.normalize("NFD", "d/caf\u00e9.py")

# held by A, asked for by B; {repo}, {tree} (a linked worktree), {way} (a symlink to the repo) are filled in.
MEET = [
    ("d/x.py", "./d/x.py"),
    ("d/x.py", "d//x.py"),
    ("d/x.py", "d/./x.py"),
    ("d/x.py", "e/../d/x.py"),
    ("d/x.py", "file:d/x.py"),
    ("d/x.py", "{repo}/d/x.py"),
    ("d/x.py", "{tree}/d/x.py"),
    ("d/x.py", "{way}/d/x.py"),
    ("{tree}/d/x.py", "d/x.py"),
    ("d/x.py", "link.py"),
    ("link.py", "d/x.py"),
    ("d/x.py", "linked/x.py"),
    ("d/new.py", "linked/new.py"),
    ("d/x.py", "d"),
    ("d/x.py", "d/"),
    ("d/x.py", "."),
    ("d/x.py", "{repo}"),
    ("d", "d/x.py"),
    ("d/", "d/deep/er.py"),
    (".", "d/x.py"),
    ("not/yet", "not/yet/there.py"),
    ("d/x.py", "d/**"),
    ("d/x.py", "d/*.py"),
    ("d/x.py", "d/?.py"),
    ("d/x.py", "**/*.py"),
    ("d/x.py", "*/x.py"),
    ("d/x.py", "{tree}/d/*.py"),
    ("d/**", "d/x.py"),
    ("**/*.py", "d/x.py"),
    ("linked/*.py", "d/x.py"),
    ("d/**", "**/*.py"),
    ("d/*.py", "d/x.*"),
    ("d/**", "d/deep/"),
    ("**/*.sql", "d/"),
    ("app/[id]/page.tsx", "app/[id]/page.tsx"),
    ("app/[id]/page.tsx", "{repo}/app/[id]/page.tsx"),
    ("app/[id]/page.tsx", "app/*/page.tsx"),
    ("app/[id]", "app/[id]/page.tsx"),
    ("d/x.py", "symbol:d/x.py#Login.check"),
    ("symbol:d/x.py#Login.check", "d/x.py"),
    ("symbol:d/x.py#Login", "symbol:d/x.py#Login.check"),
    ("symbol:d/x.py#Login.check", "symbol:d/x.py#Login"),
    ("symbol:d/x.py#Login.check", "symbol:link.py#Login.check"),
    ("symbol:d/x.py#Login", "d"),
    ("symbol:d/x.py#Login", "**/*.py"),
    (NFC, NFD),
    ("row:users", "row:users/42"),
    ("row:users/*", "row:users/42"),
    ("port:3000", "port:03000"),
]

# Neighbours that are not the same: B is granted.
APART = [
    ("d/x.py", "d/y.py"),
    ("d/x.py", "d/x.pyc"),
    ("d/x.py", "dd/x.py"),
    ("d", "dd"),
    ("d/x.py", "*.py"),
    ("d/x.py", "**/*.sql"),
    ("d/*.py", "d/*.sql"),
    ("app/[id]/page.tsx", "app/i/page.tsx"),
    ("app/[id]/page.tsx", "app/d/page.tsx"),
    ("symbol:d/x.py#Login.check", "symbol:d/x.py#Login.check2"),
    ("symbol:d/x.py#Login", "symbol:d/x.py#Logout"),
    ("symbol:d/x.py#Login", "symbol:d/y.py#Login"),
    ("d/x.py", "D/x.py"),
    ("row:users/42", "row:users/43"),
    ("row:users/42", "api:users"),
    ("value:d/x.py", "d/x.py"),
]


class Ground:
    """A repository with everything the rows mention, and two agents on it."""

    def __init__(self, temporary: TemporaryRepo) -> None:
        self.path = temporary.path
        files = ["d/x.py", "d/y.py", "d/deep/er.py", "e/z.py", "app/[id]/page.tsx", NFC]
        temporary.commit("Files", dict.fromkeys(files, "x = 1\n"))
        self.tree = temporary.add_worktree("other")
        (self.path / "link.py").symlink_to("d/x.py")
        (self.path / "linked").symlink_to("d")
        self.way = self.path.parent / "way"
        self.way.symlink_to(self.path)
        init_repo(str(self.path), os.environ)

    def open(self, at: Path | None = None) -> Repo:
        return open_repo(str(at or self.path), os.environ)

    def fill(self, text: str) -> str:
        # By hand: a row may hold braces of its own.
        return (
            text.replace("{repo}", str(self.path))
            .replace("{tree}", str(self.tree))
            .replace("{way}", str(self.way))
        )


def claim(repo: Repo, agent: str, text: str, cwd: Path) -> None:
    resource = repo.resource(text, str(cwd))
    request = Request(agent, "main", EXCLUSIVE, [resource], ttl_ms=60_000)
    ask(repo.store, repo.liveness, Caller(agent), request)


@pytest.fixture
def ground(repo: TemporaryRepo) -> Ground:
    return Ground(repo)


@pytest.mark.parametrize(("held", "asked"), MEET)
def test_every_alias_of_a_held_resource_is_refused(ground: Ground, held: str, asked: str) -> None:
    opened = ground.open()
    claim(opened, "agent-a", ground.fill(held), ground.path)
    with pytest.raises(Refusal) as refused:
        claim(opened, "agent-b", ground.fill(asked), ground.path)
    assert refused.value.code == "claim.held"
    opened.close()


@pytest.mark.parametrize(("held", "asked"), APART)
def test_a_neighbour_of_a_held_resource_is_granted(ground: Ground, held: str, asked: str) -> None:
    opened = ground.open()
    claim(opened, "agent-a", ground.fill(held), ground.path)
    claim(opened, "agent-b", ground.fill(asked), ground.path)
    opened.close()


def test_a_bare_path_counts_from_where_one_stands(ground: Ground) -> None:
    opened = ground.open()
    claim(opened, "agent-a", "x.py", ground.path / "d")
    with pytest.raises(Refusal, match="Cannot claim"):
        claim(opened, "agent-b", "d/x.py", ground.path)
    opened.close()


def test_a_claim_from_a_linked_worktree_meets_the_one_from_the_main_tree(ground: Ground) -> None:
    here, there = ground.open(), ground.open(ground.tree)
    claim(there, "agent-a", "d/x.py", ground.tree)
    with pytest.raises(Refusal, match="Cannot claim"):
        claim(here, "agent-b", "d/x.py", ground.path)
    here.close()
    there.close()


@pytest.mark.parametrize("asked", ["D/X.PY", "{repo}/D/x.py", "D/*.PY", "symbol:D/X.py#Login"])
def test_where_case_is_folded_every_spelling_meets(ground: Ground, asked: str) -> None:
    (ground.path / "lineclear.toml").write_text("[paths]\nfold_case = true\n")
    opened = ground.open()
    claim(opened, "agent-a", "d/x.py", ground.path)
    with pytest.raises(Refusal) as refused:
        claim(opened, "agent-b", ground.fill(asked), ground.path)
    assert refused.value.code == "claim.held"
    opened.close()


@pytest.mark.parametrize("asked", ["../outside.py", "/etc/passwd", "out.py", "d/../../x"])
def test_what_leaves_the_repository_is_refused(ground: Ground, asked: str) -> None:
    (ground.path / "out.py").symlink_to("/etc/passwd")
    opened = ground.open()
    with pytest.raises(Refusal) as refused:
        claim(opened, "agent-a", asked, ground.path)
    assert refused.value.code == "resource.outside"
    opened.close()
