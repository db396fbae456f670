"""Which checks a change needs, how a verdict is known again, and how a failure is told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineclear.core.claims.resources import Resource, parse_resource
from lineclear.core.queue import checks
from lineclear.core.queue.checks import (
    Check,
    checks_for,
    is_manifest,
    manifests_digest,
    tell_failure,
    verdict_key,
)


def check(command: str) -> Check:
    return Check(command, timeout_ms=1_000)


def place(text: str) -> Resource:
    return parse_resource(f"file:{text}")


STATED = [
    (check("make check"), None),
    (check("npm test"), place("web/")),
    (check("go test"), place("**/*.go")),
    (check("make check"), place("docs/")),
    (check("npm test"), place("package.json")),
]


@pytest.mark.parametrize(
    ("changed", "commands"),
    [
        ([], ["make check"]),
        (["README.md"], ["make check"]),
        (["docs/a.md"], ["make check"]),
        (["web/a.ts"], ["make check", "npm test"]),
        (["package.json"], ["make check", "npm test"]),
        (["a/b.go", "web/a.ts"], ["make check", "npm test", "go test"]),
        (["webs/a.ts", "a/web/b"], ["make check"]),
    ],
)
def test_a_change_needs_the_gate_and_the_checks_of_its_paths_each_once(
    changed: list[str], commands: list[str]
) -> None:
    assert [found.command for found in checks_for(STATED, changed)] == commands


def test_without_a_gate_only_the_paths_count() -> None:
    assert checks_for(STATED[1:], ["README.md"]) == []
    assert [found.command for found in checks_for(STATED[1:], ["docs/x"])] == ["make check"]


def test_a_file_that_is_named_like_a_glob_is_only_itself() -> None:
    assert checks_for([(check("x"), place("web/"))], ["*"]) == []
    assert len(checks_for([(check("x"), place("web/"))], ["web/[id].tsx"])) == 1


@given(st.lists(st.text(max_size=8), min_size=3, max_size=3), st.lists(st.text(max_size=8), min_size=3))
def test_two_verdicts_have_one_key_only_when_all_of_it_is_the_same(one: list[str], other: list[str]) -> None:
    keys = [verdict_key(*parts[:3]) for parts in (one, other)]
    assert (keys[0] == keys[1]) == (one == other[:3])
    assert len(keys[0]) == 64


def test_texts_that_are_cut_elsewhere_have_another_digest() -> None:
    assert checks.digest_of(["ab", "c"]) != checks.digest_of(["a", "bc"])
    assert checks.digest_of(["1:a"]) != checks.digest_of(["", "a"])


@pytest.mark.parametrize(
    "path",
    [
        "package.json", "web/package-lock.json", "yarn.lock", "a/b/bun.lockb", "pnpm-lock.yaml", "Gemfile",
        "Gemfile.lock", "requirements.txt", "requirements-dev.in", "pyproject.toml", "go.mod", "Cargo.toml",
        "Cargo.lock", "composer.json", "pom.xml", "app/build.gradle.kts", "gradle.lockfile", ".gitmodules",
        "clock.lock",
    ],
)  # fmt: skip
def test_a_file_that_states_dependencies_is_known(path: str) -> None:
    assert is_manifest(path)


@pytest.mark.parametrize("path", ["src/clock.py", "blocks.css", "package.json/a.py", "unlock.sh", "json", ""])
def test_others_are_not_taken_for_one(path: str) -> None:
    assert not is_manifest(path)


def test_dependencies_change_with_manifests_and_submodules_only() -> None:
    entries = [("100644", "1", "a.py"), ("100644", "2", "web/package.json"), ("160000", "3", "vendor/lib")]
    digest = manifests_digest(entries)
    assert manifests_digest([("100644", "9", "a.py"), *entries[1:]]) == digest
    assert manifests_digest([entries[0], ("100644", "9", "web/package.json"), entries[2]]) != digest
    assert manifests_digest([*entries[:2], ("160000", "9", "vendor/lib")]) != digest
    assert manifests_digest(entries[:2]) != digest


# -- telling ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (1, "failed with exit code 1"),
        (127, "failed with exit code 127"),
        (137, "was ended by signal 9 (SIGKILL)"),
        (128 + 40, "was ended by signal 40"),
        (255, "failed with exit code 255"),
        (checks.OUT_OF_TIME, "did not finish within 10 min"),
        (checks.CANCELLED, "was cancelled"),
    ],
)
def test_how_a_check_ended_is_said(code: int, words: str) -> None:
    told = tell_failure("make", code, "", timeout_ms=600_000)
    assert told == f"The check `make` {words}. It printed nothing.\n"


def test_the_last_lines_are_told_as_somebody_elses_words() -> None:
    told = tell_failure("make test", 2, "one\ntwo\n\n", tries=3)
    assert told == (
        "The check `make test` failed with exit code 2, 3 times in a row. Its last lines:\n| one\n| two\n"
    )


def test_colours_and_control_characters_are_gone_and_a_progress_bar_is_its_last_state() -> None:
    tail = "\x1b[1;31mred\x1b[0m \x1b]0;title\x07x\x00\x08y\r\n10%\r50%\r100%\n\ttab \u202e\n"
    assert tell_failure("c", 1, tail).splitlines()[1:] == ["| red xy", "| 100%", "| \ttab"]


def test_of_a_long_output_the_end_is_told_within_4_kb() -> None:
    told = tell_failure("make", 1, "".join(f"line {number} ä\n" for number in range(10_000)))
    assert len(told.encode()) <= 4_096
    assert told.endswith("| line 9999 ä\n")
    assert len(told.encode()) > 3_900


def test_of_one_endless_line_the_end_is_told() -> None:
    told = tell_failure("make", 1, "ä" * 100_000 + " the end")
    assert len(told.encode()) <= 4_096
    assert told.endswith("ä the end\n")


@given(st.text(), st.text(), st.integers(-2, 255), st.integers(1, 11))
def test_whatever_was_printed_it_is_told_in_4_kb_and_every_line_is_marked(
    command: str, tail: str, code: int, tries: int
) -> None:
    told = tell_failure(command * 50, code, tail * 500, timeout_ms=10**9, tries=tries)
    assert len(told.encode("utf-8", "surrogatepass")) <= 4_096
    head, *lines = told.removesuffix("\n").split("\n")
    assert head.startswith("The check `")
    assert all(line.startswith("| ") for line in lines)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("key is hunter2hunter2!", "key is ***!"),
        ("at postgres://sam:s3cret@db/x", "at postgres://***@db/x"),
        ("https://example.com:8080/a@b", "https://example.com:8080/a@b"),
        ("ghp_abcdefghijklmnopqrstuvwxyz012345", "***"),
        ("sk-proj-abcdefghijklmnopqrstuv", "***"),
        ("AKIAIOSFODNN7EXAMPLE", "***"),
        ("token lc_0123abcdef_Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6 here", "token *** here"),
        ("Authorization: Bearer abcdefghijklmnopqrst", "Authorization: Bearer ***"),
        ("eyJhbGciOiJI.eyJzdWIiOiIx.c2ln", "***"),
        ("unexpected token: foo", "unexpected token: foo"),
        ("abc", "abc"),
    ],
)
def test_secrets_are_hidden_and_nothing_else(text: str, shown: str) -> None:
    told = tell_failure("c", 1, text, secrets=["hunter2hunter2", "hunter2", "abc", ""])
    assert told.splitlines()[1] == f"| {shown}"


def test_a_private_key_is_hidden_up_to_its_end() -> None:
    tail = "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\nMIIdef\n-----END RSA PRIVATE KEY-----\nafter\n"
    told = tell_failure("c", 1, tail)
    assert "MII" not in told
    assert told.endswith("| after\n")


def test_a_secret_in_the_command_is_hidden_too() -> None:
    assert "hunter22" not in tell_failure("deploy hunter22", 1, "", secrets=["hunter22"])
