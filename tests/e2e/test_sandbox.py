"""What an agent in the sandbox cannot do, and what it still can.

All attempts are made in one sandbox, one after the other. Then the gits of a supervisor and a person's own
git run outside, over all that was planted. An attempt works if its mark exists, if it says so, or if a file
changed that is not the agent's.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from lineclear.git import worktree_commands
from lineclear.git.run import GitFailed
from lineclear.git.tree_states import take_picture
from lineclear.git.uncommitted_work import dirty_paths
from lineclear.wiring.repo import open_repo
from lineclear.wiring.worktrees import sandboxed, workplace_of
from tests.conftest import in_ci
from tests.e2e.commandline import CommandLine
from tests.e2e.crew import Crew
from tests.e2e.serving import ServeProcess
from tests.repository import TemporaryRepo

# $NAME is the attempt, $MARK the file that must not come to exist, $EVIL a program that makes it, $GIT the
# shared git directory, $OWN the worktree's, $OUT a directory of somebody else, $PID a process outside.
MONITOR = 'printf "[core]\\n\\tfsmonitor = $EVIL\\n"'
ATTEMPTS = {
    "fsmonitor": 'git config core.fsmonitor "$EVIL"',
    "config-appended": f"{MONITOR} >>$GIT/config",
    "config-replaced": f"{MONITOR} >c; mv c $GIT/config",
    "config-linked": f"{MONITOR} >c; rm $GIT/config; ln -s $PWD/c $GIT/config",
    "config-hard-linked": f"ln $GIT/config hard; {MONITOR} >>hard",
    "config-of-main-worktree": f"{MONITOR} >$GIT/config.worktree",
    "config-of-worktree": f"{MONITOR} >$OWN/config.worktree",
    "config-of-worktree-replaced": f"{MONITOR} >c; mv c $OWN/config.worktree",
    "include": f"{MONITOR} >c; git config include.path $PWD/c; git config 'includeIf.gitdir:/**.path' $PWD/c",
    "user-config": f'{MONITOR} >>$HOME/.gitconfig; git config --global core.pager "$EVIL"',
    "hook": "cp $EVIL $GIT/hooks/post-index-change",
    "hooks-moved": "mv $GIT/hooks $GIT/h; mkdir $GIT/hooks; cp $EVIL $GIT/hooks/post-index-change",
    "hooks-path": "mkdir h; cp $EVIL h/post-index-change; git config core.hooksPath $PWD/h",
    "hooks-in-the-tree": "mkdir .hooks; for name in pre-commit post-checkout post-index-change "
    "reference-transaction; do cp $EVIL .hooks/$name; done; git add .hooks; git commit -qm hooks",
    "common-dir": f"git init -q --bare fake; {MONITOR} >>fake/config; echo $PWD/fake >$GIT/commondir",
    "common-dir-of-worktree": "echo $PWD/fake >$OWN/commondir",
    "git-dir-moved": "mv $GIT ${GIT}2; mv $OWN ${OWN}2 && echo WORKED",
    "pointer-of-git-dir": "echo $OUT/.git >$OWN/gitdir",
    "pointer-of-worktree": 'echo "gitdir: $PWD/fake" >.git; rm -f .git; mkdir .git && echo WORKED',
    "pointer-moved": "mv .git x; cd ..; mv ada ada2; mkdir ada && echo WORKED",
    "worktree-entry": "mkdir $GIT/worktrees/evil; echo $PWD/.git >$GIT/worktrees/evil/gitdir",
    "attributes": 'echo "* filter=evil" >>$GIT/info/attributes',
    "info-moved": 'mv $GIT/info $GIT/i; mkdir $GIT/info; echo "* filter=evil" >$GIT/info/attributes',
    "filter": 'git config filter.evil.clean "$EVIL"; echo "*.x filter=evil" >.gitattributes; echo 1 >a.x',
    "merge-driver": 'git config merge.evil.driver "$EVIL"; echo "* merge=evil" >>.gitattributes',
    "diff-program": 'git config diff.external "$EVIL"; git config diff.evil.textconv "$EVIL"',
    "ssh-and-credentials": 'git config core.sshCommand "$EVIL"; git config credential.helper "$EVIL"',
    "nested-repository": "git init -q sub; cd sub; echo 1 >f; git add f; git commit -qm 1; cd ..; "
    'git add sub; cd sub; git config core.fsmonitor "$EVIL"; git config filter.n.clean "$EVIL; cat"; '
    'echo "* filter=n" >.gitattributes; echo 2 >f; cd ..; '
    'printf "[submodule \\"sub\\"]\\n\\tpath = sub\\n\\turl = ./sub\\n\\tignore = none\\n" >.gitmodules',
    "settings": 'printf "[worktrees]\\nsandbox = \\"off\\"\\n" >$GIT/lineclear/local.toml',
    "state-moved": "mv $GIT/lineclear $GIT/l; mkdir $GIT/lineclear && echo WORKED",
    "hook-stub": "cp $EVIL $GIT/lineclear/hook",
    "trust": "echo x >$GIT/lineclear/trusted",
    "refs-of-lineclear": "git update-ref refs/lineclear/x HEAD && echo WORKED; "
    "git rev-parse HEAD >$GIT/refs/lineclear/x && echo WORKED",
    "refs-of-lineclear-moved": "mv $GIT/refs/lineclear $GIT/refs/l && echo WORKED",
    "main-moved-by-git": "git update-ref refs/heads/main HEAD && echo WORKED; "
    "git push . +HEAD:main && echo WORKED",
    "log-of-main": "ln -sf $MARK $GIT/logs/refs/heads/main",
    "log-of-main-moved": "mv $GIT/logs/refs/heads $GIT/logs/refs/h; mkdir $GIT/logs/refs/heads; "
    "ln -s $MARK $GIT/logs/refs/heads/main",
    "refs-packed": "git pack-refs --all && echo WORKED",
    "head-of-main-worktree": "echo x >$GIT/HEAD; rm -f $GIT/index",
    "other-worktree": "echo x >../ben/README.md; echo x >$GIT/worktrees/ben/HEAD",
    "symlink": "ln -s $OUT out; touch out/$NAME",
    "proc": "for place in /proc/[0-9]*/root; do touch $place$MARK; done; touch /proc/$PID/root$MARK",
    "mounts": 'unshare -Urm sh -c "umount -l $GIT; umount $OWN/config.worktree; mount -o remount,rw,bind /; '
    'mount --bind $PWD $OUT && touch $MARK; cp $EVIL $GIT/hooks/post-index-change"; touch $MARK',
    "signals": "kill -9 $PID && echo WORKED",
    "socket": "$PYTHON $ASK",
}  # fmt: skip
# Asks the server for what it must not do for an agent.
ASK = """
import json, socket, sys
from http.client import HTTPConnection
def status(words):
    connection = HTTPConnection("lineclear", timeout=60)
    connection.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.sock.connect(sys.argv[1])
    question = {"words": words, "cwd": sys.argv[2], "environ": {"USER": "person"}}
    connection.request("POST", "/command", json.dumps(question))
    return connection.getresponse().status
assert status(["who", "a"]) == 200
for words in (["trust"], ["setup", "git"], ["gc", "--apply"], ["with", "a", "--", "id"],
    ["propose", "a", "--file=/etc/hostname"], ["land", "ada"], ["worktree", "add", "x"]):
    print(status(words), end=" ")
"""


pytestmark = pytest.mark.usefixtures("bubblewrap")


@contextmanager
def new_place() -> Iterator[Path]:
    """Outside of /tmp: what is there is hidden by the private one, not read-only."""
    with tempfile.TemporaryDirectory(prefix="lineclear-", dir="/var/tmp") as place:
        yield Path(place).resolve()


class Site:
    """A repository with two agents' worktrees, whose person has made it as easy as can be: hooks lie in the
    tree, and worktrees have settings of their own."""

    def __init__(self, place: Path, environ: dict[str, str]) -> None:
        self.home, self.out, self.tmp = place / "home", place / "out", place / "tmp"
        for directory in (self.home, self.out, self.tmp):
            directory.mkdir()
        own = {name: value for name, value in environ.items() if name != "GIT_CONFIG_GLOBAL"}
        self.git = TemporaryRepo.create(place / "repo", {**own, "HOME": str(self.home)})
        self.ada, self.ben = self.git.add_worktree("ada"), self.git.add_worktree("ben")
        for name, value in (("extensions.worktreeConfig", "true"), ("core.hooksPath", ".hooks")):
            self.git.git("config", name, value)
        self.line = CommandLine(self.git.path, self.git.environment)
        self.line.ok("init")
        self.common = self.git.path / ".git"
        (self.common / "lfs").mkdir()  # Git LFS works in it; the sandbox would make it
        (self.common / "lineclear/hook").write_text("#!/bin/sh\n")
        (self.common / "lineclear/local.toml").write_text('[worktrees]\nsandbox = "bwrap"\n')
        self.repo = open_repo(str(self.git.path), self.git.environment)

    def close(self) -> None:
        self.line.end_all()
        self.repo.close()

    def inside(self, script: str, **variables: str) -> subprocess.CompletedProcess[str]:
        argv = sandboxed(self.repo, str(self.ada), ["sh", "-c", script], tmp=str(self.tmp))
        env = {**self.git.environment, **variables}
        return subprocess.run(argv, env=env, capture_output=True, text=True, check=False)

    def others(self) -> dict[str, str]:
        """All that is not ada's: what each file says. Without what a server and git themselves write."""
        found = {}
        for top in (self.home, self.out, self.git.path, self.ben):
            for path in sorted(top.rglob("*")):
                name = str(path.relative_to(top.parent))
                is_state = "lineclear" in path.parts and path.suffix != ".toml" and path.name != "hook"
                is_gits = {"objects", "logs", "ada", "heads", "outside"} & set(path.parts)
                if not (is_state or is_gits or path.name == "index"):
                    found[name] = (
                        path.read_text(errors="replace") if path.is_file() else str(path.is_symlink())
                    )
        return found


@pytest.fixture(scope="module")
def said(shared_repo: TemporaryRepo) -> Iterator[dict[str, str]]:
    """What each attempt said; the marks that exist afterwards; the changed files that are not ada's."""
    with new_place() as place:
        site = Site(place, shared_repo.environment)
        try:
            found = _attempt(site)
            _work_outside(site)
            yield {**found, "mark": " ".join(os.listdir(site.out))}
        finally:
            site.close()


def _attempt(site: Site) -> dict[str, str]:
    server, outer = ServeProcess(site.line), subprocess.Popen(["sleep", "600"])
    evil = site.ada / "evil"
    evil.mkdir()
    for name in ATTEMPTS:
        (evil / name).write_text(f"#!/bin/sh\ntouch {site.out / name} 2>/dev/null\nexit 0\n")
        (evil / name).chmod(0o755)
    (evil / "ask.py").write_text(ASK)
    steps = [
        f"(NAME={name} MARK={site.out / name} EVIL={evil / name}; {command}) >/tmp/{name}.said 2>&1"
        for name, command in ATTEMPTS.items()
    ]
    before = site.others()
    site.inside(
        "\n".join(steps), GIT=str(site.common), OWN=str(site.common / "worktrees/ada"), OUT=str(site.out),
        PID=str(outer.pid), PYTHON=sys.executable, ASK=f"{evil / 'ask.py'} {server.door.socket} {site.ada}",
    )  # fmt: skip
    changed = {name for name, _ in before.items() ^ site.others().items()}
    outer.kill()
    outer.wait()
    found = {name: (site.tmp / f"{name}.said").read_text() for name in ATTEMPTS}
    return found | {"changed": "\n".join(sorted(changed))}


def _work_outside(site: Site) -> None:
    """What a supervisor, commands and a person do while and after an agent works."""
    ada, main = str(site.ada), str(site.git.path)
    take_picture(ada, None, lambda _: False)
    assert dirty_paths(ada)
    assert worktree_commands.count_changes(ada)
    site.line.ok("salvage", "take", "-C", ada)
    site.line.ok("worktree", "list")
    workplace = workplace_of(site.repo, ada)
    commit, _, why = workplace.commit("The rest", "ada")
    assert commit, why
    worktree_commands.add(main, f"{main}.worktrees/new", branch="new", commit=commit, is_new=True)
    for words in (["status"], ["diff"], ["log", "-1"], ["commit", "--quiet", "--allow-empty", "--message=x"]):
        site.git.git(*words)
    site.git.git("status", "--ignore-submodules=all", at=site.ada)


@pytest.mark.parametrize("name", ATTEMPTS)
def test_an_agent_does_not_get_out(said: dict[str, str], name: str) -> None:
    assert name not in said["mark"].split()
    assert "WORKED" not in said[name]


def test_the_server_does_nothing_for_an_agent_that_needs_more_than_the_store(said: dict[str, str]) -> None:
    assert said["socket"].split() == ["421"] * 7


def test_no_file_changed_that_is_not_the_agents(said: dict[str, str]) -> None:
    assert said["changed"] == ""


@pytest.mark.parametrize("name", ["index", "logs/HEAD"])
def test_what_an_agent_left_is_not_written_through_a_link(repo: TemporaryRepo, name: str) -> None:
    """Git follows a link in its own directory, and we run git there when the agent has ended."""
    with new_place() as place:
        site = Site(place, repo.environment)
        link, target = f"{site.common}/worktrees/ada/{name}", site.out / "target"
        assert site.inside(f"echo 1 >new; rm {link}; ln -s {target} {link}").returncode == 0
        with pytest.raises(GitFailed) if name == "index" else nullcontext():
            assert "Read-only file system" in workplace_of(site.repo, str(site.ada)).commit("Rest", "ada")[2]
        assert not target.exists()
        site.close()


def test_a_tool_asks_the_server(repo: TemporaryRepo) -> None:
    """A client in the sandbox starts `lineclear mcp` in there, too."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    calls: list[dict[str, object]] = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "claim", "arguments": {"resources": ["--a"]}}},
        {"id": 3, "method": "tools/call", "params": {"name": "claim", "arguments": {"resources": ["/etc"]}}},
    ]
    with new_place() as place:
        site = Site(place, repo.environment)
        ServeProcess(site.line)
        argv = [sys.executable, "-m", "lineclear", "mcp", "--as", "ada"]
        with subprocess.Popen(
            sandboxed(site.repo, str(site.ada), argv, tmp=str(site.tmp)), env=site.git.environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        ) as child:  # fmt: skip
            assert child.stdin is not None
            assert child.stdout is not None
            child.stdin.write("".join(json.dumps({"jsonrpc": "2.0", **call}) + "\n" for call in calls))
            child.stdin.flush()
            said = {(row := json.loads(child.stdout.readline()))["id"]: row["result"] for _ in range(3)}
        assert said[2]["structuredContent"]["data"]["claims"][0]["resource"] == "file:--a"
        assert said[3]["isError"]
        assert said[3]["content"][0]["text"].startswith(said[3]["structuredContent"]["error"]["message"])
        assert site.line.holders("file:--a") == ["ada"]
        site.close()


@pytest.mark.parametrize("kind", ["shell", "lfs"])
def test_the_users_own_filter_works_inside_and_out(
    repo: TemporaryRepo, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """From the user's settings, in the agent's commit and in ours; Git LFS keeps its files."""
    if kind == "lfs" and shutil.which("git-lfs") is None:
        (pytest.fail if in_ci() else pytest.skip)("GIT LFS IS NOT TESTED: git-lfs is not installed")
    with new_place() as place:
        site = Site(place, repo.environment)
        monkeypatch.setenv("HOME", str(site.home))
        monkeypatch.delenv("GIT_CONFIG_GLOBAL", raising=False)
        if kind == "lfs":
            site.git.git("lfs", "install", "--skip-repo")
        else:
            site.git.git("config", "--global", "filter.shell.clean", "tr a-z A-Z")
        site.git.commit("Filter", {".gitattributes": f"*.x filter={kind}\n"}, at=site.ada)
        done = site.inside("echo one >a.x; git add . && git commit -qm x && echo two >b.x")
        assert done.returncode == 0, done
        commit, _, why = workplace_of(site.repo, str(site.ada)).commit("Rest", "ada")
        assert commit, why
        stored = [site.git.git("show", f"ada:{name}") for name in ("a.x", "b.x")]
        if kind == "lfs":
            assert all(text.startswith("version https://git-lfs") for text in stored)
            kept = [path.read_text() for path in site.common.glob("lfs/objects/*/*/*")]
            assert sorted(kept) == ["one\n", "two\n"]
        else:
            assert stored == ["ONE", "TWO"]
        site.close()


SESSION = """
set -e
git stash list
commit a 1; commit b 2
echo more >>a; git stash; git stash pop; git checkout -- a
own=$(git branch --show-current)
git switch --quiet --create other HEAD~1; commit c 3; git cherry-pick "$own"; git switch --quiet "$own"
git merge --quiet --message=Both other; git rebase --quiet HEAD~1
git update-ref -d refs/heads/other; git tag one; git fetch --quiet . main; git log --oneline main >/dev/null
git -C "$main" status --short
test "$(cat a)" = 1
lineclear claim a; lineclear who a; lineclear say hello; lineclear inbox; lineclear value put k 1
lineclear task note T-1 'half way'; lineclear release --all; lineclear status; lineclear log; lineclear check
echo 4 >left
mark done
"""


@pytest.mark.slow
def test_an_ordinary_session_works(repo: TemporaryRepo) -> None:
    """Commits, git's other commands, tests and `lineclear` verbs; what is left uncommitted is committed, with
    the user's own hook, and lands."""
    with new_place() as place:
        crew = Crew(TemporaryRepo.create(place / "repo", repo.environment))
        hook = crew.git.path / ".git/hooks/pre-commit"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {crew.marks}/hooked-$LINECLEAR_GATE {crew.git.path}/x\nexit 0\n")
        hook.chmod(0o755)
        crew.line.ok("setup", "git")
        state = crew.git.path / ".git/lineclear"
        (state / "local.toml").write_text(
            f'[worktrees]\nsandbox = "bwrap"\nwritable = [{json.dumps(str(crew.marks))}]\n'
        )
        crew.task("Part 1")
        script = f'exec >"$marks/said" 2>&1; main={crew.git.path}; {SESSION}'
        try:
            shift = crew.run("-n", "1", command=crew.script(T1=script))
            code = shift.code()
            assert crew.is_marked("done"), (crew.marks / "said").read_text()
            assert code == 0, shift.said
            assert [crew.on_main(name) for name in ("a", "b", "c", "left")] == ["1", "2", "3", "4"]
            assert crew.is_marked("hooked-open"), "the user's own hook ran for our commit"
            assert not (crew.git.path / "x").exists(), "inside, as the agent's files that it may call"
            assert crew.events("TaskNoted", 1)
        finally:
            crew.close()
