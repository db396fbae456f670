"""Git's small files: config, `.git` files, symbolic refs, packed refs."""

from __future__ import annotations

import pytest

from lineclear.git import parse

OBJECT_ID = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[core]\n\tignorecase = true\n", "true"),
        ("[core]\n\tignorecase=false\n", "false"),
        ("[core]\nignorecase\n", "true"),
        ("[core]\nignorecase ; why\n", "true"),
        ("[CORE]\n\tIgnoreCase = yes\n", "yes"),
        ("[core] ignorecase = true\n", "true"),
        ("[core]\n\tignorecase = true # on this disk\n", "true"),
        ("[core]\r\n\tignorecase = true\r\n", "true"),
        ("[core]\n\tignorecase = true\n[core]\n\tignorecase = false\n", "false"),
        ('[core]\n\tignorecase = "true"\n', "true"),
        ('[core "x"]\n\tignorecase = true\n', None),
        ("[user]\n\tignorecase = true\n", None),
        ("[core]\n\t# ignorecase = true\n\t; ignorecase = true\n", None),
        ("[core]\n\tignorecases = true\n", None),
        ("ignorecase = true\n", None),
        ("", None),
    ],
)
def test_the_last_value_of_a_plain_key_counts(text: str, value: str | None) -> None:
    assert parse.config_value(text, "core", "ignorecase") == value


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("../../../sub", "../../../sub"),
        ('"a b # c"', "a b # c"),
        ('"with \\"quotes\\" and \\\\"', 'with "quotes" and \\'),
        ("a b  # comment", "a b"),
        ('"ends with a space "', "ends with a space "),
        ("naïve/Ünïcode", "naïve/Ünïcode"),
    ],
)
def test_a_configured_path_is_read_as_git_writes_it(written: str, path: str) -> None:
    assert parse.config_value(f"[core]\n\tworktree = {written}\n", "core", "worktree") == path


@pytest.mark.parametrize("word", ["true", "True", "YES", "on", "1"])
def test_git_has_several_words_for_yes(word: str) -> None:
    assert parse.is_true(word)


@pytest.mark.parametrize("word", [None, "", "false", "no", "off", "0"])
def test_everything_else_is_no(word: str | None) -> None:
    assert not parse.is_true(word)


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("gitdir: /a/.git/worktrees/b\n", "/a/.git/worktrees/b"),
        ("gitdir: ../.git/modules/sub\r\n", "../.git/modules/sub"),
        ("gitdir:/a/b", "/a/b"),
        ("gitdir: /a/with space \n", "/a/with space "),
        ("gitdir: \n", None),
        ("gitdir", None),
        ("something: else\n", None),
        ("", None),
    ],
)
def test_a_git_file_points_to_a_directory(text: str, target: str | None) -> None:
    assert parse.gitdir_target(text) == target


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("ref: refs/heads/main\n", "refs/heads/main"),
        ("ref:refs/heads/a/b", "refs/heads/a/b"),
        (OBJECT_ID + "\n", None),
        ("ref: \n", None),
        ("", None),
    ],
)
def test_a_symbolic_ref_names_another(text: str, target: str | None) -> None:
    assert parse.symbolic_target(text) == target


def test_an_object_id_is_forty_or_sixty_four_hexadecimal_digits() -> None:
    assert parse.is_object_id(OBJECT_ID + "\n")
    assert parse.is_object_id("a" * 64)
    assert not parse.is_object_id(OBJECT_ID[:-1])
    assert not parse.is_object_id("g" * 40)
    assert not parse.is_object_id("")


def test_a_packed_ref_is_found_by_its_whole_name() -> None:
    text = f"# pack-refs with: peeled\n{OBJECT_ID} refs/heads/main\n{OBJECT_ID} refs/heads/other\n"
    assert parse.packed_ref_exists(text, "refs/heads/main")
    assert not parse.packed_ref_exists(text, "refs/heads/mai")
    assert not parse.packed_ref_exists(text, "heads/main")


PACKED = (
    "# pack-refs with: peeled fully-peeled sorted\n"
    f"{'1' * 40} refs/heads/a\n{'2' * 40} refs/heads/x/a\n{'3' * 40} refs/tags/v1\n^{'4' * 40}\n"
)


def test_the_commit_of_a_packed_ref_is_read() -> None:
    assert parse.packed_ref(PACKED, "refs/heads/a") == "1" * 40
    assert parse.packed_ref(PACKED, "refs/heads/x/a") == "2" * 40
    assert parse.packed_ref(PACKED, "refs/heads/x") == ""
    assert parse.packed_ref("", "refs/heads/a") == ""


def test_packed_branches_are_those_under_heads() -> None:
    assert parse.packed_branches(PACKED) == ["a", "x/a"]
