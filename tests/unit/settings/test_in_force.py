"""Settings that are written and not in force, and how that is told."""

from __future__ import annotations

from lineclear.settings import Settings, build_settings
from lineclear.settings.in_force import missing_gates, not_in_force

GATE = b'[checks]\ngate = "make test"\n'


def read(team: bytes = b"", local: bytes = b"", **environ: str) -> Settings:
    return build_settings(team=team, local=local, environ=environ)


def test_equal_files_need_no_warning() -> None:
    team = GATE + b'[worktrees]\nsetup = ["npm ci"]\n[[checks.paths]]\nmatch = "web/"\ncommand = "x"\n'
    assert not_in_force(read(team), read(team), "main") == []


def test_a_setting_is_named_whether_it_is_new_changed_or_gone() -> None:
    next_ = "Next: commit lineclear.toml on trunk."
    assert not_in_force(read(GATE), read(), "trunk") == [
        f"checks.gate is in lineclear.toml but not committed on trunk: it is not in force. {next_}"
    ]
    other = b'[checks]\ngate = "true"\n'
    assert not_in_force(read(other), read(GATE), "trunk") == [
        f"checks.gate in lineclear.toml is not committed: trunk has another value in force. {next_}"
    ]
    assert not_in_force(read(), read(GATE), "trunk") == [
        "checks.gate is committed on trunk and stays in force, although lineclear.toml no longer has it."
    ]


def test_this_clones_own_file_and_what_counts_at_once_differ_without_a_warning() -> None:
    assert not_in_force(read(GATE, local=GATE), read(local=GATE), "main") == []
    assert not_in_force(read(b"[run]\nagents = 5\n"), read(), "main") == []


def test_what_prepares_check_trees_matters_only_where_something_is_checked() -> None:
    setup = b'[worktrees]\nsetup = ["npm ci"]\n[worktrees.env]\nA = "1"\n'
    assert not_in_force(read(setup), read(), "main") == []
    names = [text.split()[0] for text in not_in_force(read(setup + GATE), read(GATE), "main")]
    assert names == ["worktrees.setup", "worktrees.env"]


def test_a_gate_is_missing_only_if_main_has_none_of_its_kind() -> None:
    paths = b'[[checks.paths]]\nmatch = "web/"\ncommand = "x"\n'
    review = b'[queue]\nreview = "agent"\n'
    assert missing_gates(read(GATE + paths + review), read()) == [
        "checks.gate",
        "checks.paths",
        "queue.review",
    ]
    assert missing_gates(read(GATE), read(b'[checks]\ngate = "true"\n')) == []
    assert missing_gates(read(), read(GATE)) == []
