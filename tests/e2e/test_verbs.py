"""Every verb once, as text and as JSON: a verb that is in the index and not in here fails the test."""

from __future__ import annotations

from typing import Any

from lineclear.cli.index import INDEX
from tests.e2e.commandline import CommandLine

CHECKLIST = "- [ ] Write the parser (scope: src/parser.py)\n  - [ ] Choose a grammar\n- [x] Find a name\n"

# One story, in order: (verb, arguments, what the text says, a field of the JSON data, stdin).
STORY: list[tuple[str, list[str], str, str, str]] = [
    ("init", [], "is now under lineclear", "engine", ""),
    ("doctor", [], "ok", "checks", ""),
    ("config show", ["--origin"], "claims.ttl", "settings", ""),
    ("trust", [], "contains nothing that needs trust", "stated", ""),
    (
        "task add",
        ["Login form", "--scope", "src/auth/", "--label", "ui", "--body", "-"],
        "T-1 is added",
        "task",
        "Why",
    ),
    ("task add", ["Login form for users", "--after", "T-1"], "maybe the same: T-1", "similar", ""),
    ("task import", ["-"], "T-3 is added", "tasks", CHECKLIST),
    ("task list", ["--state", "open", "taken"], "Choose a grammar", "tasks", ""),
    ("task ready", [], "T-1", "tasks", ""),
    ("task next", ["--as", "codex-1"], 'T-1 is yours: "Login form"', "crowded", ""),
    ("task note", ["T-1", "half way", "--as", "codex-1"], "Noted at T-1", "note", ""),
    ("task show", ["1"], "> half way", "notes", ""),
    ("task edit", ["T-1", "--priority", "1", "--not-after", "T-2"], "T-1 was changed", "task", ""),
    ("task done", ["T-1", "--branch", "main", "--as", "codex-1"], "T-1 is handed over", "task", ""),
    ("task done", ["T-1"], "T-1 is merged", "task", ""),
    ("task fail", ["T-2", "--reason", "no idea"], "T-2 is failed", "task", ""),
    ("task reopen", ["T-2"], "T-2 is open", "task", ""),
    ("task same", ["T-2", "T-3"], "T-2 is cancelled", "task", ""),
    ("task cancel", ["T-3", "--reason", "not wanted"], "T-3 is cancelled", "task", ""),
    ("task export", [], "- [x] T-1 Login form (priority: 1; scope: file:src/auth/; labels: ui)", "tasks", ""),
    ("claim", ["src/a.py", "--as", "codex-1", "--note", "the form"], "file:src/a.py is yours", "fence", ""),
    ("who", ["src/a.py"], "codex-1", "holders", ""),
    ("status", [], "codex-1", "agents", ""),
    ("release", ["--all", "--as", "codex-1"], "file:src/a.py is free", "released", ""),
    ("value put", ["limits", '{"a": 1}', "--as", "codex-1"], "limits is now version 1", "version", ""),
    ("value get", ["limits"], '{"a":1}', "value", ""),
    ("value fork", ["draft", "limits"], "The copy draft holds limits", "values", ""),
    ("value put", ["limits", "-", "--copy", "draft"], "changed in the copy", "changed", '{"a": 1, "b": 2}'),
    ("value list", [], "draft", "copies", ""),
    ("value merge", ["draft"], "limits is now version 2", "merged", ""),
    ("value fork", ["other", "limits"], "The copy other", "copy", ""),
    ("value drop", ["other"], "other was dropped", "copy", ""),
    ("value history", ["limits"], "VERSION", "versions", ""),
    ("value delete", ["limits", "--version", "2"], "limits was deleted", "deleted", ""),
    ("say", ["look at T-4", "--to", "codex-1"], "was sent to agent codex-1", "id", ""),
    ("inbox", ["--as", "codex-1"], "> look at T-4", "messages", ""),
    ("topic", ["api", "--as", "codex-1"], "You listen to api", "topics", ""),
    ("worktree add", ["desk", "--agent", "codex-1"], "branch lineclear/desk", "path", ""),
    ("worktree list", [], "lineclear/desk", "worktrees", ""),
    ("worktree adopt", ["../repo.worktrees/desk"], "The worktree desk was already known", "name", ""),
    ("worktree remove", ["desk"], "The worktree desk was removed", "branch", ""),
    ("agent list", [], "codex-1", "agents", ""),
    ("agent leave", ["codex-1"], "codex-1 has left", "freed", ""),
    ("token add", ["codex-1", "--note", "desk"], "lc_", "secret", ""),
    ("token list", [], "codex-1", "tokens", ""),
    ("token revoke", ["codex-1"], "was revoked", "revoked", ""),
    ("log", ["--since", "1h"], "TaskMerged", "events", ""),
    ("audit", [], "the log and the tables agree", "findings", ""),
    ("db info", [], "sqlite", "kind", ""),
    ("db verify", [], "intact", "findings", ""),
    ("db backup", ["copy.db"], "copy.db", "path", ""),
    ("db copy", ["other-store"], "events copied", "events", ""),
    ("completion", ["zsh"], "lineclear", "script", ""),
    ("uninstall", ["--yes"], "removed", "removed", ""),
]
# Told by tests of their own below, or in files of their own.
ELSEWHERE = {
    "diff",
    "gc",
    "open",
    "salvage list",
    "salvage restore",
    "salvage show",
    "salvage take",
    "demo",
    "check",
    "land",
    "queue approve",
    "queue checks",
    "queue drop",
    "queue hold",
    "queue list",
    "queue move",
    "queue pause",
    "queue reject",
    "queue resume",
    "queue retry",
    "queue run",
    "queue show",
    "undo",
    "sync",
    "merge-file",
    "merge-tree",
    "hook",
    "mcp",
    "migration next",
    "serve",
    "mirror",
    "setup conventions",
    "setup",
    "gate",
    "setup git-merge",
    "phase",
    "propose",
    "proposal list",
    "proposal show",
    "proposal accept",
    "proposal reject",
    "with",
    "run",
    "attach",
    "stop",
    "pause",
    "resume",
}


def test_every_verb_is_told_somewhere() -> None:
    assert {verb for verb, *_ in STORY} | ELSEWHERE == set(INDEX)


def test_every_verb_answers_in_words(bare_line: CommandLine) -> None:
    for verb, arguments, words, _, stdin in STORY:
        answer = bare_line.run(*verb.split(), *arguments, stdin=stdin)
        assert answer.code == 0, answer
        assert words in answer.out, answer


def test_every_verb_answers_in_json(bare_line: CommandLine) -> None:
    for verb, arguments, _, field, stdin in STORY:
        answer = bare_line.run("--json", *verb.split(), *arguments, stdin=stdin)
        assert answer.code == 0, answer
        assert answer.err == "", answer
        assert answer.out.count("\n") == 1, answer
        assert list(answer.envelope) == ["schema", "data", "warnings"], answer
        assert answer.envelope["schema"] == "lineclear/1"
        assert field in answer.data, answer


def proposal_number(line: CommandLine, *options: str) -> str:
    made: dict[str, Any] = line.json("propose", "value:limits", '{"a": 2}', "--as", "helper", *options)
    return str(made["proposal"]["id"])


def test_proposals_from_the_first_word_to_the_decision(line: CommandLine) -> None:
    line.ok("claim", "value:limits", "--as", "owner")
    first = proposal_number(line, "--note", "room for more")
    second = proposal_number(line)
    third = proposal_number(line, "--supersedes", second)
    assert "room for more" in line.ok("proposal", "list").out
    assert "> room for more" in line.ok("proposal", "show", first).out
    assert line.refused("proposal", "accept", first, "--as", "helper", code=4)["holder"] == "owner"
    assert line.refused("proposal", "accept", third, "--as", "owner", code=3)["first"] == int(first)
    assert "now version 1" in line.ok("proposal", "accept", first, "--as", "owner").out
    assert "was rejected" in line.ok("proposal", "reject", third, "--as", "owner", "--reason", "enough").out
    states = {p["id"]: p["state"] for p in line.json("proposal", "list", "--state", "all")["proposals"]}
    assert states == {int(first): "accepted", int(second): "superseded", int(third): "rejected"}
    told = line.ok("inbox", "--as", "helper").out
    assert f"accepted proposal {first}" in told
    assert '"enough"' in told


def test_proposals_as_data(line: CommandLine) -> None:
    first = proposal_number(line)
    second = proposal_number(line)
    assert line.json("proposal", "show", first)["payload"] == {"a": 2}
    assert line.json("proposal", "accept", first)["version"] == 1
    assert line.refused("proposal", "accept", second, code=7)["code"] == "proposal.stale"
    assert line.json("proposal", "reject", second, "--reason", "old")["proposal"]["reason"] == "old"
    assert line.refused("proposal", "reject", second, "--reason", "old", code=7)["code"] == "proposal.decided"


def test_a_refusal_has_an_envelope_of_its_own(line: CommandLine) -> None:
    envelope = line.run("task", "show", "T-9", "--json").envelope
    assert list(envelope) == ["schema", "error", "warnings"]
    assert envelope["error"] == {
        "code": "task.unknown",
        "message": 'There is no task "T-9".',
        "next": "lineclear task list",
        "name": "T-9",
    }


def test_an_export_can_be_imported_as_it_is(line: CommandLine) -> None:
    line.ok(
        "task",
        "add",
        "One",
        "--label",
        "a",
        "--label",
        "b",
        "--body",
        "first\n- [ ] no task\nlast",
        "--priority",
        "0",
    )
    line.ok("task", "add", "Two", "--after", "T-1", "--scope", "src/x, y.py", "--produces", "b, c.js")
    for format_, name in (("markdown", "tasks.md"), ("json", "tasks.json")):
        text = line.ok("task", "export", "--format", format_).out
        (line.place / name).write_text(text)
    for name in ("tasks.md", "tasks.json"):
        line.ok("task", "import", name)
    tasks = line.json("task", "export")["tasks"]
    told = [{**task, "id": "", "after": len(task["after"])} for task in tasks]
    assert told[0:2] == told[2:4] == told[4:6]
    assert [task["after"] for task in tasks[3::2]] == [["T-3"], ["T-5"]]


def test_help_is_there_for_every_verb_and_names_its_arguments(line: CommandLine) -> None:
    listed = line.ok("--help").out
    # A verb without a group is for programs: documented, and left out of what people read first.
    assert [verb for verb, (_, group, _) in INDEX.items() if group and verb not in listed] == []
    assert "\n  gate " not in listed
    assert "--not-after" in line.ok("task", "edit", "--help").out
    assert "task reopen" in line.ok("task", "--help").out
    assert line.run("task").code == 2


def test_options_for_every_verb_may_stand_before_it(line: CommandLine) -> None:
    assert line.ok("--as", "codex-1", "--json", "claim", "a").data["claims"][0]["agent"] == "codex-1"
    assert line.at(line.place.parent).ok("-C", "repo", "--json", "who", "a").data["holders"]
