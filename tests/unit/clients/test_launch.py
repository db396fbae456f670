"""How each client is started: exact words for each permission, sessions, commands of the user's own."""

from __future__ import annotations

import json

import pytest

from lineclear.clients.launch import (
    EDIT,
    FULL,
    NO_INPUT,
    NONE,
    PROMPT_INPUT,
    Launch,
    WorkerCommand,
    filled,
    shell_prefixes,
)
from lineclear.clients.registry import CLIENTS, START, names_with, start_of, why_missing

AGENTS = sorted({*names_with(START)} - {"lineclear", "plain"})
GIT = ["add", "commit", "diff", "log", "mv", "restore", "rm", "show", "status"]


def launched(name: str, permissions: str = EDIT, **more: object) -> WorkerCommand:
    asked = {
        "prompt": "Do it.",
        "prompt_file": "/runs/7/prompt.md",
        "worktree": "/srv/shop.worktrees/ada",
        "git_dir": "/srv/shop/.git/worktrees/ada",
        "common_dir": "/srv/shop/.git",
        "command": [CLIENTS[name].program],
    } | more
    return start_of(name).launch(Launch(permissions=permissions, **asked))  # type: ignore[arg-type]


def gemini_shells(*more: str) -> str:
    commands = [f"git {verb}" for verb in GIT] + ["lineclear", *more]
    return ",".join(f"run_shell_command({command})" for command in commands)


CLAUDE_TOOLS = ",".join([*(f"Bash(git {verb}:*)" for verb in GIT), "Bash(lineclear:*)", "mcp__lineclear"])
CLAUDE = ["claude", "-p", "--output-format", "stream-json", "--verbose"]
CODEX_EDIT = [
    "--sandbox", "workspace-write",
    "--config", 'approval_policy="never"', "--config", "allow_login_shell=false",
    "--add-dir", "/srv/shop/.git", "--add-dir", "/srv/shop/.git/worktrees/ada",
]  # fmt: skip
CODEX_FULL = ["--dangerously-bypass-approvals-and-sandbox", "--config", "allow_login_shell=false"]
COPILOT = ["copilot", "--output-format", "json", "--no-color"]
COPILOT_EDIT = ["--allow-tool=write", "--allow-tool=lineclear"]
COPILOT_EDIT += [f"--allow-tool=shell(git {verb}:*)" for verb in GIT] + ["--allow-tool=shell(lineclear:*)"]
AIDER = [
    "aider", "--no-pretty", "--no-stream", "--no-check-update", "--no-show-release-notes",
    "--analytics-disable",
]  # fmt: skip
GOOSE = ["goose", "run", "--output-format", "stream-json", "-i", "-"]
QWEN = ["qwen", "--output-format", "stream-json"]
GEMINI = ["gemini", "--output-format", "stream-json"]

WORDS = {
    ("aider", EDIT): [*AIDER, "--yes-always", "--message-file", "/runs/7/prompt.md"],
    ("aider", FULL): [*AIDER, "--yes-always", "--message-file", "/runs/7/prompt.md"],
    ("aider", NONE): [*AIDER, "--message-file", "/runs/7/prompt.md"],
    ("claude", EDIT): [*CLAUDE, "--permission-mode", "acceptEdits", "--allowedTools", CLAUDE_TOOLS],
    ("claude", FULL): [*CLAUDE, "--dangerously-skip-permissions"],
    ("claude", NONE): CLAUDE,
    ("codex", EDIT): ["codex", "exec", "--json", *CODEX_EDIT, "-"],
    ("codex", FULL): ["codex", "exec", "--json", *CODEX_FULL, "-"],
    ("codex", NONE): ["codex", "exec", "--json", "-"],
    ("copilot", EDIT): [*COPILOT, *COPILOT_EDIT],
    ("copilot", FULL): [*COPILOT, "--allow-all-tools", "--allow-all-paths"],
    ("copilot", NONE): COPILOT,
    ("gemini", EDIT): [
        *GEMINI, "--approval-mode", "auto_edit", "--allowed-tools", gemini_shells(),
    ],
    ("gemini", FULL): [*GEMINI, "--approval-mode", "yolo"],
    ("gemini", NONE): GEMINI,
    ("goose", EDIT): GOOSE,
    ("goose", FULL): GOOSE,
    ("goose", NONE): GOOSE,
    ("opencode", EDIT): ["opencode", "run", "--format", "json"],
    ("opencode", FULL): ["opencode", "run", "--format", "json", "--auto"],
    ("opencode", NONE): ["opencode", "run", "--format", "json"],
    ("qwen", EDIT): [*QWEN, "--approval-mode", "auto-edit", "--allowed-tools", gemini_shells()],
    ("qwen", FULL): [*QWEN, "--approval-mode", "yolo"],
    ("qwen", NONE): QWEN,
}  # fmt: skip

RESUMED = {
    "claude": ["--resume", "S1"],
    "codex": ["resume", "S1", "-"],
    "copilot": ["--session-id", "S1"],
    "gemini": ["--resume", "S1"],
    "goose": ["--resume", "--session-id", "S1"],
    "opencode": ["--session", "S1"],
    "qwen": ["--resume", "S1"],
}


@pytest.mark.parametrize(("name", "permissions"), WORDS, ids="-".join)
def test_the_words_of_a_command(name: str, permissions: str) -> None:
    assert launched(name, permissions).argv == WORDS[name, permissions]


@pytest.mark.parametrize("permissions", [EDIT, FULL])
def test_gemini_trusts_the_worktree_in_a_way_that_lets_its_hooks_run(permissions: str) -> None:
    assert launched("gemini", permissions).env["GEMINI_CLI_TRUST_WORKSPACE"] == "true"


def test_every_client_has_words_for_every_permission() -> None:
    assert WORDS.keys() == {(name, permissions) for name in AGENTS for permissions in (EDIT, FULL, NONE)}


@pytest.mark.parametrize("name", AGENTS)
def test_a_long_prompt_is_never_a_word_of_the_command(name: str) -> None:
    long = "x" * 200_000
    started = launched(name, prompt=long)
    assert long not in started.argv
    assert started.stdin == (NO_INPUT if name == "aider" else PROMPT_INPUT)


@pytest.mark.parametrize(("name", "words"), RESUMED.items())
def test_a_session_is_resumed_by_its_id(name: str, words: list[str]) -> None:
    argv = launched(name, resume_session="S1", session="S2").argv
    assert argv[-len(words) :] == words
    assert "S2" not in argv


@pytest.mark.parametrize("name", ["claude", "copilot", "gemini", "qwen"])
def test_a_session_of_our_choice_is_known_before_the_client_says_it(name: str) -> None:
    started = launched(name, session="S2")
    assert started.argv[-2:] == ["--session-id", "S2"]
    assert started.session == "S2"
    assert launched(name, resume_session="S1").session == "S1"


@pytest.mark.parametrize("name", AGENTS)
def test_a_command_of_the_users_own_stands_in_for_the_program(name: str) -> None:
    assert launched(name, command=["nice", "/opt/it", "--fast"]).argv[:3] == ["nice", "/opt/it", "--fast"]


@pytest.mark.parametrize("name", AGENTS)
def test_the_model_is_passed_on(name: str) -> None:
    argv = launched(name, model="m-1").argv
    assert argv[argv.index("--model") + 1] == "m-1"
    assert "--model" not in launched(name).argv


def test_codex_guesses_the_git_directory_of_a_worktree() -> None:
    assert launched("codex", git_dir="").argv == launched("codex").argv
    assert "--add-dir" not in launched("codex", git_dir="", common_dir="").argv


def test_opencode_gets_its_rules_and_its_directory_by_variables() -> None:
    env = launched("opencode", allowed_commands=["make test"]).env
    rules = json.loads(env["OPENCODE_PERMISSION"])
    assert next(iter(rules["bash"].items())) == ("*", "deny")
    assert rules["bash"]["make test"] == rules["bash"]["make test *"] == "allow"
    assert (rules["edit"], rules["external_directory"]) == ("allow", "deny")
    assert env["PWD"] == "/srv/shop.worktrees/ada"
    assert "OPENCODE_PERMISSION" not in launched("opencode", FULL).env


def test_goose_is_never_left_asking() -> None:
    assert launched("goose", EDIT).env == {"GOOSE_MODE": "auto"}
    assert launched("goose", NONE).env == {}


def test_the_checks_may_be_run_too() -> None:
    checks = ["make test", "ruff check . && pytest -q tests -k 'a, b'; true"]
    assert (
        "Bash(make test:*),Bash(ruff check .:*),Bash(pytest -q tests -k:*),Bash(true:*),"
        in (launched("claude", allowed_commands=checks).argv[-1])
    )
    assert launched("gemini", allowed_commands=["make test"]).argv[-1] == gemini_shells("make test")
    assert launched("copilot", allowed_commands=["make test"]).argv[-1] == "--allow-tool=shell(make:*)"


@pytest.mark.parametrize("command", ["$(rm -rf /)", "", "   ", "'quoted' x", "a,b", "Bash(*)", "*"])
def test_no_command_can_widen_a_rule(command: str) -> None:
    ours = shell_prefixes(Launch(prompt=""))
    assert shell_prefixes(Launch(prompt="", allowed_commands=[command])) == ours


def test_unknown_permissions_are_a_mistake_of_ours() -> None:
    with pytest.raises(ValueError, match="permissions are one of"):
        Launch(prompt="", permissions="all")


# -- any command -------------------------------------------------------------------------------


def test_a_command_that_names_the_prompt_gets_it_there() -> None:
    started = launched("plain", command=["sh", "-c", "run {model} < {prompt_file}"], model="m-1")
    assert started.argv == ["sh", "-c", "run m-1 < /runs/7/prompt.md"]
    assert started.stdin == NO_INPUT


def test_a_command_that_does_not_name_the_prompt_gets_it_as_input() -> None:
    started = launched("lineclear", command=["./agent", "{worktree}", "{session}"], session="S1")
    assert started.argv == ["./agent", "/srv/shop.worktrees/ada", "S1"]
    assert started.stdin == PROMPT_INPUT


def test_places_are_filled_once_and_other_braces_stay() -> None:
    asked = Launch(prompt="use {model}", model="m-1")
    words = ["{prompt}", "{model}", "{other}", "{", "}{model", "{}", "a{model}b{model}"]
    assert filled(words, asked) == ["use {model}", "m-1", "{other}", "{", "}{model", "{}", "am-1bm-1"]


# -- the registry ------------------------------------------------------------------------------


def test_a_missing_program_is_told_with_the_command_that_installs_it() -> None:
    told = why_missing("codex", "codex")
    assert told == "Codex CLI is not installed or not on the PATH; `npm install -g @openai/codex` installs it"
    assert why_missing("claude", "/opt/claude") == "/opt/claude is not installed or not on the PATH"
    assert why_missing("plain", "agent.sh") == "agent.sh is not installed or not on the PATH"
