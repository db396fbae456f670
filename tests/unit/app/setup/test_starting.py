"""`init` and `uninstall`, with everything outside in memory."""

from __future__ import annotations

import pytest

from lineclear.app.setup.starting import NewRepo, plan_uninstall
from lineclear.core.words.refusals import Refusal
from tests.unit.app.setup.in_memory import ROOT, STATE, MemoryClone

URL = "postgresql://db/team"


class Outside:
    """What `init` did, in its order."""

    def __init__(self, *, commit: str = "0123456789abcdef", network: str | None = None) -> None:
        self.steps: list[str] = []
        self.commit, self.network = commit, network

    def repo(self, *, repo_id: str = "", url: str = "") -> NewRepo:
        return NewRepo(
            root=ROOT,
            worktree=f"{ROOT}.worktrees/ada",
            directory=STATE,
            repo_id=repo_id,
            store_url=url,
            network_fs=lambda _: self.network,
            make_directory=lambda: self.steps.append("directory"),
            create_sqlite=lambda: self._note("sqlite"),
            make_bells=lambda: self.steps.append("bells"),
            create_postgres=lambda name: self._note(f"postgres {name}"),
            root_commit=lambda: self.commit,
            write_repo_id=lambda name: self.steps.append(f"id {name}"),
            write_store_url=lambda given: self.steps.append(f"url {given}"),
        )

    def _note(self, step: str) -> bool:
        self.steps.append(step)
        return True


def test_without_a_url_the_store_is_embedded() -> None:
    outside = Outside()
    made = outside.repo().init("")
    assert made == {"repo": f"{ROOT}.worktrees/ada", "engine": "sqlite", "created": True, "directory": STATE}
    assert outside.steps == ["directory", "sqlite", "bells"]


def test_an_embedded_store_on_a_network_file_system_is_refused() -> None:
    outside = Outside(network="nfs4")
    with pytest.raises(Refusal) as caught:
        outside.repo().init("")
    assert caught.value.code == "store.network"
    assert outside.steps == ["directory"]


def test_the_first_of_a_team_names_the_repository_and_remembers_the_url_last() -> None:
    outside = Outside()
    assert outside.repo(url=URL).init(URL)["engine"] == "postgres"
    assert outside.steps == ["directory", "id shop-0123456789", "postgres shop-0123456789", f"url {URL}"]


def test_a_url_from_the_settings_is_not_written_again() -> None:
    outside = Outside()
    outside.repo(repo_id="shop-1", url=URL).init("")
    assert outside.steps == ["directory", "postgres shop-1"]


def test_a_clone_of_a_teams_repository_needs_its_url() -> None:
    outside = Outside()
    with pytest.raises(Refusal) as caught:
        outside.repo(repo_id="shop-1").init("")
    assert (caught.value.code, outside.steps) == ("store.team", [])


def test_a_repository_without_a_commit_has_no_name_to_share() -> None:
    with pytest.raises(Refusal) as caught:
        Outside(commit="").repo(url=URL).shared_id()
    assert caught.value.code == "repo.empty"


def test_uninstall_keeps_what_the_team_shares() -> None:
    memory, team_file = MemoryClone(), f"{ROOT}/lineclear.toml"
    memory.disk.files[team_file] = b""
    plan = plan_uninstall(memory.clone, has_directory=True, team_file=team_file, is_team=True)
    assert plan == {
        "paths": [STATE],
        "kept": [f"{team_file} (yours)", "the team's PostgreSQL store"],
        "clients": [],
    }
    plan = plan_uninstall(memory.clone, has_directory=False, team_file=f"{ROOT}/other", is_team=False)
    assert plan == {"paths": [], "kept": [], "clients": []}
