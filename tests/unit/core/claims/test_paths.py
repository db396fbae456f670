"""Path rules: one spelling per path, what makes a glob, what a glob matches."""

from __future__ import annotations

import pytest

from lineclear.core.claims import paths
from lineclear.core.claims.paths import Glob, escape, fold, glob, is_glob, normalise, unescape
from lineclear.core.words.refusals import Refusal


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("src/a.py", "src/a.py"),
        ("./src/a.py", "src/a.py"),
        ("src//a.py", "src/a.py"),
        ("src/./a.py", "src/a.py"),
        ("src/", "src"),
        ("src/.", "src"),
        ("x/../src/a.py", "src/a.py"),
        ("src/x/y/../../a.py", "src/a.py"),
        ("x/..", ""),
        (".", ""),
        ("./", ""),
        ("", ""),
        (".github/a.yml", ".github/a.yml"),
        ("...", "..."),
        ("a b/c", "a b/c"),
        ("app/[id]/{x}.tsx", "app/[id]/{x}.tsx"),
        ("größe/\u00a0", "größe/\u00a0"),
    ],
)
def test_every_spelling_of_a_path_becomes_one(written: str, meant: str) -> None:
    assert normalise(written) == meant


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("..", "climbs"),
        ("../a", "climbs"),
        ("a/../../b", "climbs"),
        ("/a", "absolute"),
        ("//a", "absolute"),
        ("a" * 4097, "4096 characters"),
        ("a/" + "b" * 256, "255 bytes"),
        ("ü" * 128, "255 bytes"),
        ("a\nb", "control character"),
        ("a\x7fb", "control character"),
        ("a\0b", "control character"),
        ("a\udc80b", "UTF-8"),
    ],
)
def test_a_path_that_cannot_be_ours_is_refused(path: str, why: str) -> None:
    with pytest.raises(Refusal, match=why) as refused:
        normalise(path)
    assert refused.value.code == "resource.bad"
    assert len(str(refused.value)) <= 300


def test_the_longest_path_and_name_are_accepted() -> None:
    longest = "/".join(["a" * 255] * 16)
    assert normalise(longest) == longest
    assert normalise("ü" * 127) == "ü" * 127


def test_folding_joins_what_the_file_system_takes_for_one_name() -> None:
    assert fold("SRC/A.py", case=True, nfc=False) == "src/a.py"
    assert fold("SRC/A.py", case=False, nfc=True) == "SRC/A.py"
    assert fold("u\u0308", case=False, nfc=True) == "ü"
    assert fold("u\u0308", case=False, nfc=False) == "u\u0308"
    assert fold("STRASSE", case=True, nfc=True) == fold("straße", case=True, nfc=True)
    assert fold("U\u0308", case=True, nfc=True) == fold("ü", case=True, nfc=True)


def test_folding_does_not_depend_on_how_marks_are_composed() -> None:
    together, apart = "\u1f80", "\u03b1\u0345\u0313"
    assert fold(together, case=True, nfc=True) == fold(apart, case=True, nfc=True)


@pytest.mark.parametrize("path", ["*", "a/**", "a?", "\\\\*?", "\\**", "[a]*"])
def test_an_unescaped_star_or_question_mark_makes_a_glob(path: str) -> None:
    assert is_glob(path)


@pytest.mark.parametrize(
    "path", ["", "a", "app/[id]/page.tsx", "{a,b}", "\\*", "a\\?", "\\\\*", "a\\b", "!a"]
)
def test_brackets_braces_and_escapes_make_no_glob(path: str) -> None:
    assert not is_glob(path)


@pytest.mark.parametrize("name", ["a*b", "what?", "a\\*", "\\", "a\\b", "\\\\**??", "plain"])
def test_an_escaped_name_is_no_glob_and_comes_back(name: str) -> None:
    assert not is_glob(escape(name))
    assert unescape(escape(name)) == name
    assert glob(escape(name)).matches(name)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("**/*.py", "a.py"),
        ("**/*.py", "src/deep/a.py"),
        ("**/*.py", ".py"),
        ("src/**/*.py", "src/a.py"),
        ("src/**/*.py", "src/x/y/a.py"),
        ("src/**", "src/x/y"),
        ("src/**", "src"),
        ("**", ""),
        ("**", "a/b"),
        ("*", ".env"),
        ("a*c", "ac"),
        ("a**c", "abbc"),
        ("***", "a"),
        ("a?c", "abc"),
        ("**/a/**/b/**", "x/a/y/b/z"),
        ("**/a/b/**/c", "a/a/b/c"),
        ("*a*b*", "xaybz"),
        ("app/[id]/*", "app/[id]/page.tsx"),
        ("\\*/*", "*/x"),
        ("a\\b/*", "a\\b/c"),
        ("src/*/", "src/x/deep/a.py"),
        ("./src//*.py", "src/a.py"),
        ("x/../*.py", "a.py"),
        ("src/a.py", "src/a.py"),
    ],
)
def test_a_glob_matches(pattern: str, path: str) -> None:
    assert glob(pattern).matches(path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("**/*.py", "a.pyc"),
        ("src/**/*.py", "srcs/a.py"),
        ("src/**/*.py", "src.py"),
        ("src/**", "srcs"),
        ("*", "a/b"),
        ("*", ""),
        ("**/*", ""),
        ("*.py", "src/a.py"),
        ("a?c", "ac"),
        ("a?c", "a/c"),
        ("app/[id]/*", "app/i/page.tsx"),
        ("\\*/*", "a/x"),
        ("ab*bc", "abc"),
        ("*ab*ab*", "xabx"),
        ("**/a/b/**/a/b", "a/b"),
        ("**/a/**/a", "a"),
        ("src/a.py", "src/a.pyx"),
    ],
)
def test_a_glob_does_not_match(pattern: str, path: str) -> None:
    assert not glob(pattern).matches(path)


@pytest.mark.parametrize(
    ("pattern", "anchor", "tail", "segments"),
    [
        ("**/*.sql", "", ".sql", ("**", "*.sql")),
        ("src/db/**/*.sql", "src/db", ".sql", ("src", "db", "**", "*.sql")),
        ("src/**", "src", "", ("src", "**")),
        ("src/*/a.py", "src", "/a.py", ("src", "*", "a.py")),
        ("**/test/a.py", "", "test/a.py", ("**", "test", "a.py")),
        ("lib/**/a.py", "lib", "/a.py", ("lib", "**", "a.py")),
        ("s\\*c/x?y.py", "s*c", "y.py", ("s\\*c", "x?y.py")),
        ("src/a.py", "src", "src/a.py", ("src", "a.py")),
        ("a***b/**/**/c", "", "/c", ("a*b", "**", "c")),
    ],
)
def test_a_glob_knows_its_literal_ends(
    pattern: str, anchor: str, tail: str, segments: tuple[str, ...]
) -> None:
    read = Glob(pattern)
    assert (read.anchor, read.tail, read.segments) == (anchor, tail, segments)
    assert read.pattern == "/".join(segments)


@pytest.mark.parametrize(
    ("pattern", "directory", "could"),
    [
        ("**/*.py", "anything/at/all", True),
        ("src/*.py", "src", True),
        ("src/*.py", "", True),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/lib", False),
        ("src/*.py", "docs", False),
        ("src/*/a.py", "src/lib", True),
        ("src/*/a.py", "src/lib/a.py/x", False),
        ("src/**", "src/x/y", True),
        ("s?c/**/x", "sac/q", True),
        ("s?c/**/x", "docs", False),
    ],
)
def test_a_glob_may_match_inside_a_directory(pattern: str, directory: str, could: bool) -> None:
    assert glob(pattern).matches_inside(directory) is could


@pytest.mark.parametrize(
    ("a", "b", "meet"),
    [
        ("**/*.py", "src/*", True),
        ("**/*.py", "**/*.sql", False),
        ("src/**", "docs/**", False),
        ("src/**", "**/test/*", True),
        ("src/*.py", "src/*/*.py", False),
        ("a*", "*b", True),
        ("a*b", "a*c", False),
        ("a?", "?b", True),
        ("a?", "?bc", False),
        ("*ab*", "a?", True),
        ("*aa*", "?b?", False),
        ("**/a/**", "b/*/c", True),
        ("**/a/**/a/**", "b/*/c", False),
        ("src/**", "src", True),
        ("src/**", "*", True),
        (".?", "?.", False),
        (".*", "?", False),
        (".?", "*.*", True),
        (".*", "*.", True),
        ("\\*x", "*x", True),
        ("\\*x", "ax*", False),
    ],
)
def test_two_globs_meet_when_some_path_could_match_both(a: str, b: str, meet: bool) -> None:
    assert glob(a).meets(glob(b)) is meet
    assert glob(b).meets(glob(a)) is meet


def test_a_glob_of_64_segments_is_read_and_one_of_65_refused() -> None:
    assert glob("/".join(["*"] * 64)).matches("/".join(["a"] * 64))
    with pytest.raises(Refusal, match="at most 64 segments"):
        glob("/".join(["**"] * 65))


def test_climbing_out_of_a_wildcard_is_refused() -> None:
    with pytest.raises(Refusal, match="after a wildcard"):
        glob("src/**/../a.py")


def test_a_glob_is_read_once_and_the_memory_of_them_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "_globs", {})
    monkeypatch.setattr(paths, "MAX_CACHED_GLOBS", 3)
    first = glob("a*")
    assert glob("a*") is first
    for pattern in ("b*", "c*", "d*", "e*"):
        glob(pattern)
    assert len(paths._globs) <= 3
    assert repr(glob("a*")) == "Glob('a*')"


NAME = "a" * 254
NEAR_MISS = "*" + "a?" * 63 + "b*"
NEAR_HIT = "*" + "a?" * 63 + "*"


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("/".join(["*a*a*a*a*b"] * 20), "/".join(["a" * 199 + "b"] * 19 + ["a" * 199]), False),
        ("*a*a*a*a*b" * 20, "a" * 254 + "b", False),
        ("/".join(["**"] * 64), "/".join(["a"] * 2000), True),
        ("/".join(["**", "a"] * 31) + "/b", "/".join(["a"] * 30 + ["x"] * 1000 + ["b"]), False),
        ("**/" + "/".join([NEAR_HIT] * 7 + [NEAR_MISS]) + "/**", "/".join([NAME] * 16), False),
    ],
)
def test_a_hostile_pattern_is_matched_in_no_time(pattern: str, path: str, matches: bool) -> None:
    assert glob(pattern).matches(path) is matches


@pytest.mark.timeout(60)
def test_hostile_patterns_are_compared_in_no_time() -> None:
    stars = "*a*a*a*a*b" * 20
    assert not glob(stars).meets(glob("*a*a*a*a*c" * 20))
    assert glob("/".join([stars] * 20)).meets(glob("/".join(["a?" * 100] * 20)))
    assert not glob("/".join([stars] * 20)).meets(glob("/".join(["a" * 199 + "?"] * 20)))
    deep = "/".join(["**", "a*"] * 31)
    assert glob(deep + "/b").meets(glob(deep + "/?"))
    assert not glob(deep + "/b").meets(glob("/".join(["?"] * 60 + ["c"])))
    fixed = "/".join(["?" + "a" * 253] * 16)
    assert not glob("**/" + "/".join([NEAR_HIT] * 7 + [NEAR_MISS]) + "/**").meets(glob(fixed))
