"""What of the committed settings file needs trust, and what does not."""

from __future__ import annotations

from lineclear.settings import SETTINGS, build_settings
from lineclear.settings.setting import LIST
from lineclear.settings.trust_list import commands_of

EVERYTHING = """
[worktrees]
setup = ["npm ci", "make db"]
writable = ["~/.cache"]
[worktrees.env]
PATH = "/x"
[checks]
gate = "make check"
full = "make test"
[[checks.paths]]
match = "web/"
command = "npm test"
[workers.a]
command = ["./agent", "two words"]
permissions = "full"
sandbox = "off"
env = { LD_PRELOAD = "x.so" }
[workers.b]
permissions = "edit"
sandbox = "bwrap"
"""


def stated(team: str = "", local: str = "", **environ: str) -> list[tuple[str, str]]:
    settings = build_settings(team=team.encode(), local=local.encode(), environ=environ)
    return [(one.where, one.text) for one in commands_of(settings)]


def test_everything_that_runs_or_allows_something_is_listed_with_its_place() -> None:
    assert stated(EVERYTHING) == [
        ("worktrees.setup[0]", "npm ci"),
        ("worktrees.setup[1]", "make db"),
        ("worktrees.writable[0]", "~/.cache"),
        ("checks.gate", "make check"),
        ("checks.full", "make test"),
        ("worktrees.env.PATH", "PATH=/x"),
        ("checks.paths[0].command", "npm test"),
        ("workers.a.command", "./agent 'two words'"),
        ("workers.a.permissions", "full"),
        ("workers.a.sandbox", "off"),
        ("workers.a.env.LD_PRELOAD", "LD_PRELOAD=x.so"),
    ]


def test_this_clones_own_file_needs_no_trust() -> None:
    assert stated(local=EVERYTHING) == []


def test_a_variable_needs_no_trust_and_replaces_what_does() -> None:
    assert stated('checks.gate = "a"', LINECLEAR_CHECKS_GATE="b") == []


def test_a_key_of_the_clones_own_replaces_the_committed_one_and_no_other() -> None:
    team = "[workers.a]\ncommand = ['x']\nenv = { A = '1', B = '1' }\n[worktrees]\nsetup = ['s']"
    local = "[workers.a]\ncommand = ['y']\nenv = { A = '2' }"
    assert stated(team, local) == [("worktrees.setup[0]", "s"), ("workers.a.env.B", "B=1")]


def test_a_model_or_a_count_changed_by_the_clone_leaves_the_committed_command_untrusted() -> None:
    team, local = "[workers.a]\ncommand = ['x']", "[workers.a]\ncount = 2\nmodel = 'm'"
    assert stated(team, local) == [("workers.a.command", "x")]


def test_two_command_lines_with_different_words_are_different_texts() -> None:
    one, other = "[workers.a]\ncommand = ['a', 'b c']", "[workers.a]\ncommand = ['a b', 'c']"
    assert stated(one) != stated(other)


def test_an_empty_setting_needs_no_trust() -> None:
    assert stated('checks.gate = ""\nworktrees.setup = []\nworkers.a.command = []') == []


def test_a_list_that_runs_nothing_needs_no_trust() -> None:
    stating = ("merge.regenerate", "worktrees.writable", "snapshots.secret_names")
    harmless = [s for s in SETTINGS.values() if s.kind == LIST and s.name not in stating]
    assert harmless
    assert stated("\n".join(f'{setting.name} = ["x"]' for setting in harmless)) == []
