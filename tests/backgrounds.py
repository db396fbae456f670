"""A repository with somebody in its background: in this process, or in one of its own that can be killed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from lineclear.app import claims
from lineclear.app.log import audit, entries_after
from lineclear.app.ports import Caller
from lineclear.app.worktrees.saver import Saver
from lineclear.core.claims.granting import EXCLUSIVE, Request
from lineclear.core.claims.resources import parse_resource
from lineclear.core.log.tables import CANDIDATE, LogEntry
from lineclear.core.queue.candidates import LANDED
from lineclear.core.worktrees.snapshots import Kept
from lineclear.git.snapshots.refs import list_snapshots
from lineclear.serve.background import Background
from lineclear.wiring.queue import landings_of
from lineclear.wiring.repo import Repo, open_repo
from lineclear.wiring.saving import saver_in
from lineclear.wiring.starting import init_repo
from tests.repository import TemporaryRepo
from tests.waiting import until

PERSON = Caller("anna", is_person=True)


class Site:
    """One clone. `environ` is what its background, and its commands, are started with."""

    def __init__(self, git: TemporaryRepo, url: str = "") -> None:
        # Several commits of one second must not be one commit.
        environ = {name: value for name, value in git.environment.items() if not name.endswith("_DATE")}
        git.environment = environ
        self.git, self.environ = git, {**environ, "LINECLEAR_PERSON": "anna"}
        init_repo(str(git.path), self.environ, url)
        self.repo = self.open()
        self.told: list[str] = []
        self.is_gone = False
        self._backgrounds: list[Background] = []
        self._servers: list[subprocess.Popen[bytes]] = []
        self._savers: list[tuple[Saver, Repo]] = []

    def open(self) -> Repo:
        return open_repo(str(self.git.path), self.environ)

    def close(self) -> None:
        for background in self._backgrounds:
            assert background.stop(30), background.status()
        for server in self._servers:
            server.kill()
            server.communicate()
        for saver, repo in self._savers:
            saver.close(30)
            repo.close()
        self.repo.close()

    # -- who works in the background ----------------------------------------------------------

    def begin(self) -> Background:
        def note() -> None:
            self.is_gone = True

        background = Background(self.open, tell=lambda words, _: self.told.append(words), on_gone=note)
        self._backgrounds.append(background)
        background.start()
        return background

    def saver(self) -> Saver:
        """What takes the snapshots, without its thread, after its first look."""
        repo = self.open()
        saver = saver_in(repo)
        self._savers.append((saver, repo))
        saver.choose()
        until(lambda: saver.step() or saver.looked == len(saver.places))
        return saver

    def serve(self) -> subprocess.Popen[bytes]:
        """The same in a process of its own, without the doors of `serve`; it ends when it is told to stop."""
        argv = [sys.executable, "-m", "tests.backgrounds", str(self.git.path)]
        root = Path(__file__).parents[1]
        environ = {**self.environ, "PYTHONPATH": f"{root}:{root / 'src'}"}
        server = subprocess.Popen(argv, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._servers.append(server)
        assert server.stdout is not None
        assert server.stdout.readline() == b"started\n"
        return server

    # -- what there is to do ------------------------------------------------------------------

    def agent(self, name: str) -> Path:
        """A live agent in a worktree of its own."""
        place = self.git.add_worktree(name)
        request = self.request(name, f"value:{name}")
        claims.ask(self.repo.store, self.repo.liveness, self.caller(name), request)
        return place

    def caller(self, name: str) -> Caller:
        return Caller(name, tree=self.tree_of(name))

    def tree_of(self, name: str) -> str:
        scope: str = self.repo.tree.removesuffix(self.repo.layout.tree)
        return scope + name

    def request(self, name: str, resource: str, ttl_ms: int = 60_000) -> Request:
        return Request(name, self.tree_of(name), EXCLUSIVE, [parse_resource(resource)], ttl_ms=ttl_ms)

    def branch(self, name: str, files: dict[str, str]) -> str:
        """A branch with one commit, in a worktree, so that main's own is left alone."""
        place = self.git.add_worktree(name)
        self.git.commit(f"Work on {name}", files, at=place)
        return name

    def submit(self, name: str, files: dict[str, str]) -> None:
        landings_of(self.repo).submit(PERSON, branch=self.branch(name, files))

    def local(self, text: str) -> None:
        """The clone's own settings, beside where its store is."""
        path = self.git.path / ".git" / "lineclear" / "local.toml"
        before = path.read_text() if path.exists() else ""
        store = [line for line in before.splitlines() if line == "[store]" or line.startswith("url = ")]
        path.write_text("\n".join([*store, text, ""]))

    # -- what came of it ----------------------------------------------------------------------

    def state(self, branch: str) -> str:
        rows = self.repo.store.read(lambda view: view.scan(CANDIDATE, "key"))
        return next((row.state for row in rows if row.branch == branch), "")

    def landed(self) -> set[str]:
        rows = self.repo.store.read(lambda view: view.scan(CANDIDATE, "key"))
        return {row.branch for row in rows if row.state == LANDED}

    def snapshots(self, agent: str) -> list[Kept]:
        return list_snapshots(self.repo.layout.common_dir, agent)

    def saved(self, agent: str, name: str) -> str:
        """A file in the agent's newest snapshot."""
        found = self.snapshots(agent)
        if not found or not self.git.git("ls-tree", found[0].commit, "--", name):
            return ""
        return self.git.git("show", f"{found[0].commit}:{name}")

    def has_saved(self, agent: str, name: str, text: str) -> bool:
        return self.saved(agent, name) == text

    def events(self, kind: str) -> list[LogEntry]:
        entries = self.repo.store.read(lambda view: list(entries_after(view, 0)))
        return [entry for entry in entries if entry.kind == kind]

    def findings(self) -> list[Any]:
        found: list[Any] = audit(self.repo.store)["findings"]
        return found


def main(path: str) -> None:
    import os

    background = Background(lambda: open_repo(path, dict(os.environ)))
    background.start()
    sys.stdout.write("started\n")
    sys.stdout.flush()
    sys.stdin.read()
    is_over = background.stop(30)
    sys.stdout.write(json.dumps({"is_over": is_over, **background.status()}))


if __name__ == "__main__":
    main(sys.argv[1])
