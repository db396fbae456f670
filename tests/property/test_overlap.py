"""What must always hold of paths, globs and resources, judged by a second, independent reading of globs."""

from __future__ import annotations

import itertools
import random
import re

from hypothesis import example, given, settings
from hypothesis import strategies as st

from lineclear.core.claims.paths import escape, fold, glob, is_glob, normalise, unescape
from lineclear.core.claims.resources import Resource, ancestors, covers, overlaps, parse_resource
from lineclear.core.words.refusals import Refusal

# -- the second reading: a glob as a regular expression ---------------------------------------


def expression_for_segment(segment: str) -> str:
    out = ""
    at = 0
    while at < len(segment):
        if segment[at] == "\\" and segment[at + 1 : at + 2] in ("*", "?"):
            at += 1
            out += re.escape(segment[at])
        else:
            out += {"*": "[^/]*", "?": "[^/]"}.get(segment[at], re.escape(segment[at]))
        at += 1
    return "(?=[^/])" + out + "/"


def expression(pattern: str) -> re.Pattern[str]:
    """Matches a path written with a slash after each of its names."""
    parts = ["(?:[^/]+/)*" if part == "**" else expression_for_segment(part) for part in pattern.split("/")]
    return re.compile("".join(parts), re.DOTALL)


def with_slashes(path: str) -> str:
    return path + "/" if path else ""


def is_at_or_below(path: str, directory: str) -> bool:
    return not directory or path == directory or path.startswith(directory + "/")


# -- random patterns and paths over few letters, so that they meet often ----------------------


def random_name(dice: random.Random) -> str:
    name = "".join(dice.choice("ab.*") for _ in range(dice.randint(1, 3)))
    return name if name not in (".", "..") else "a"


def random_path(dice: random.Random) -> str:
    return "/".join(random_name(dice) for _ in range(dice.randint(1, 4)))


def random_segment(dice: random.Random) -> str:
    if dice.random() < 0.25:
        return "**"
    text = "".join(
        dice.choice(["a", "b", ".", "*", "?", "*", "\\*", "\\"]) for _ in range(dice.randint(1, 4))
    )
    return text if text not in (".", "..", "**") else "*"


def random_glob(dice: random.Random) -> str:
    while True:
        pattern = "/".join(random_segment(dice) for _ in range(dice.randint(1, 4)))
        if is_glob(pattern):
            return pattern


def literal_prefix(pattern: str) -> list[str]:
    names = itertools.takewhile(lambda part: not is_glob(part), pattern.split("/"))
    return [unescape(name) for name in names]


# -- globs against literals -------------------------------------------------------------------


def expected_overlap(pattern: str, reading: re.Pattern[str], path: str, kind: str, below: list[str]) -> bool:
    if reading.fullmatch(with_slashes(path)):
        return True
    anchor = "/".join(literal_prefix(pattern))
    if is_at_or_below(anchor, path):
        return True
    return kind == "dir" and any(reading.fullmatch(with_slashes(f"{path}/{more}")) for more in below)


def test_a_glob_and_a_file_overlap_just_when_a_regular_expression_says_so() -> None:
    dice = random.Random(20_261)
    judged = 0
    overlapping = 0
    for _ in range(1_500):
        pattern = random_glob(dice)
        reading = expression(pattern)
        claimed = parse_resource(pattern)
        for _ in range(70):
            path = random_path(dice)
            named = parse_resource(escape(path))
            answer = overlaps(claimed, named)
            assert answer is expected_overlap(pattern, reading, path, "file", []), (pattern, path)
            judged += 1
            overlapping += answer
    assert judged >= 100_000
    assert judged * 0.05 < overlapping < judged * 0.95


def test_a_glob_and_a_directory_overlap_just_when_something_in_there_could_match() -> None:
    names = ["a", "b", "aa", "ab", "ba", "bb", ".a", "a.", "*", "a*", "*a", "\\", "\\a", "aba", "a.b"]
    below = ["/".join(path) for depth in (1, 2) for path in itertools.product(names, repeat=depth)]
    dice = random.Random(20_262)
    answers = []
    for _ in range(1_500):
        # Few and short parts, so that the paths listed above hold a witness if there is one.
        parts = [dice.choice(["a", "b", "*", "?", "a*", "*b", "?a", "**"]) for _ in range(dice.randint(1, 3))]
        pattern = "/".join([*parts[:-1], dice.choice(["*", "**", "a?", "*.*"])])
        path = "/".join(dice.choice(names) for _ in range(dice.randint(1, 3)))
        answer = overlaps(parse_resource(pattern), parse_resource(escape(path) + "/"))
        assert answer is expected_overlap(pattern, expression(pattern), path, "dir", below), (pattern, path)
        answers.append(answer)
    assert 100 < sum(answers) < 1_400


# -- globs against globs ----------------------------------------------------------------------


def matched_by(patterns: list[str], paths: list[str]) -> dict[str, int]:
    """For each pattern, one bit for each path that matches it."""
    found = {}
    for pattern in patterns:
        reading = expression(pattern)
        bits = "".join("1" if reading.fullmatch(with_slashes(path)) else "0" for path in paths)
        found[pattern] = int(bits, 2)
    return found


def assert_exact(patterns: list[str], paths: list[str]) -> None:
    matched = matched_by(patterns, paths)
    read = {pattern: glob(pattern) for pattern in patterns}
    for a, b in itertools.combinations_with_replacement(patterns, 2):
        witnessed = bool(matched[a] & matched[b])
        assert read[a].meets(read[b]) is witnessed, (a, b)
        assert read[b].meets(read[a]) is witnessed, (b, a)


def test_two_globs_of_one_segment_meet_just_when_a_name_matches_both() -> None:
    texts = ("".join(text) for size in (1, 2, 3) for text in itertools.product("a.*?", repeat=size))
    patterns = [text for text in texts if text not in (".", "..", "**")]
    # "b" stands for all letters that no pattern names; six are enough for two patterns of three.
    names = ("".join(name) for size in range(1, 7) for name in itertools.product("ab.", repeat=size))
    assert_exact(patterns, [name for name in names if name not in (".", "..")])


def test_two_globs_of_some_segments_meet_just_when_a_path_matches_both() -> None:
    sizes = (1, 2, 3, 4)
    patterns = ["/".join(p) for size in sizes for p in itertools.product(["a", "b", "*", "**"], repeat=size)]
    # No two of these need a path of more than eight names.
    paths = ["/".join(path) for depth in range(9) for path in itertools.product("ab", repeat=depth)]
    assert_exact(patterns, paths)


def test_two_globs_are_never_called_apart_when_a_path_matches_both() -> None:
    dice = random.Random(20_263)
    patterns = [random_glob(dice) for _ in range(250)]
    matched = matched_by(patterns, [random_path(dice) for _ in range(2_000)])
    pairs = [(a, b) for a, b in itertools.combinations(patterns, 2) if matched[a] & matched[b]]
    assert len(pairs) > 2_000
    for a, b in pairs:
        assert glob(a).meets(glob(b)), (a, b)


# -- resources of every kind ------------------------------------------------------------------

names = st.text(alphabet="ab.#*?\\:", min_size=1, max_size=3).filter(lambda name: name not in (".", ".."))
literal_paths = st.lists(names, min_size=1, max_size=3).map("/".join)
parts_of_globs = st.one_of(st.sampled_from(["*", "**", "a*", "?b", "a?*"]), names.map(escape))
globs = st.lists(parts_of_globs, min_size=1, max_size=4).map("/".join).filter(is_glob)
symbols = st.lists(st.sampled_from(["f", "g", "#f"]), min_size=1, max_size=3).map(".".join)
plain_files = st.sampled_from(["a", "b", "a/b", "b/a", "a/a", "C#/a"])

resources = st.one_of(
    literal_paths.map(lambda path: parse_resource("file:" + path, literal=True)),
    literal_paths.map(lambda path: parse_resource("file:" + path, literal=True, is_dir=True)),
    globs.map(lambda pattern: parse_resource("file:" + pattern)),
    st.builds(lambda path, symbol: parse_resource(f"symbol:{path}#{symbol}"), plain_files, symbols),
    literal_paths.map(lambda name: parse_resource("row:" + name, literal=True)),
    globs.map(lambda pattern: parse_resource("row:" + pattern)),
    st.sampled_from(["file:./", "file:**", "api:a", "port:3000", "value:a/b"]).map(parse_resource),
)


def is_inside(resource: Resource, path: str) -> bool:
    """Does the resource mean this file? By the second reading; for names, what is below counts too."""
    if resource.kind == "glob":
        below = resource.path if resource.scheme == "file" else resource.path + "/**"
        return bool(expression(below).fullmatch(with_slashes(path)))
    if resource.kind == "file":
        return path == resource.path
    return is_at_or_below(path, resource.path)


SMALL_PATHS = [
    "/".join(path)
    for depth in range(1, 4)
    for path in itertools.product(["a", "b", "ab", "*", "a.b"], repeat=depth)
]


@given(resources)
def test_a_resource_overlaps_and_covers_itself(resource: Resource) -> None:
    assert overlaps(resource, resource)
    assert covers(resource, resource)


@settings(max_examples=500)
@given(resources, resources)
def test_overlap_is_the_same_from_both_sides_and_covering_implies_it(a: Resource, b: Resource) -> None:
    assert overlaps(a, b) is overlaps(b, a)
    if covers(a, b):
        assert overlaps(a, b)


@settings(max_examples=500, deadline=None)
@given(resources, resources)
def test_resources_that_mean_one_file_overlap_and_a_cover_misses_none(a: Resource, b: Resource) -> None:
    trees = {resource.node.partition(":")[0] for resource in (a, b)}
    if len(trees) > 1:
        assert not overlaps(a, b)
        assert not covers(a, b)
    elif "symbol" not in (a.kind, b.kind):
        in_a = {path for path in SMALL_PATHS if is_inside(a, path)}
        in_b = {path for path in SMALL_PATHS if is_inside(b, path)}
        assert overlaps(a, b) or not in_a & in_b
        assert in_b <= in_a or not covers(a, b)


@given(resources)
def test_the_text_of_a_resource_reads_back_as_itself(resource: Resource) -> None:
    again = parse_resource(resource.text)
    assert all(getattr(again, field) == getattr(resource, field) for field in Resource.__slots__)


@given(resources)
def test_every_node_lies_in_the_range_below_each_of_its_ancestors(resource: Resource) -> None:
    *above, node = ancestors(resource.node)
    assert node == resource.node
    assert all(place + "/" < node < place + "0" for place in above)


# -- arbitrary text ---------------------------------------------------------------------------

prefixes = st.sampled_from(
    ["", "file:", "symbol:", "row:", "value:", "port:", "api:", "gpu:", "x:", "symbol:a#"]
)
hostile = st.text(alphabet=st.characters(), max_size=30) | st.text(alphabet="a/.#*?\\:-0\u0301Kß\udc80\x00")
typed = st.builds(str.__add__, prefixes, hostile)


def read_or_refusal(
    text: str, *, is_dir: bool | None, literal: bool, fold_case: bool, nfc: bool
) -> Resource | Refusal:
    try:
        return parse_resource(
            text, is_dir=is_dir, literal=literal, fold_case=fold_case, nfc=nfc, schemes=("gpu",)
        )
    except Refusal as refusal:
        return refusal


@settings(max_examples=1_000)
@given(typed, st.sampled_from([None, False, True]), st.booleans(), st.booleans(), st.booleans())
@example("symbol:d/a#b/.#f", None, False, False, True)
@example("\\" * 3 + "*", None, True, False, True)
def test_any_text_is_a_resource_that_reads_back_or_is_refused(
    text: str, is_dir: bool | None, literal: bool, fold_case: bool, nfc: bool
) -> None:
    found = read_or_refusal(text, is_dir=is_dir, literal=literal, fold_case=fold_case, nfc=nfc)
    if isinstance(found, Refusal):
        assert found.code in ("resource.bad", "resource.scheme")
        assert len(str(found)) <= 300
        return
    again = parse_resource(found.text, fold_case=fold_case, nfc=nfc, schemes=("gpu",))
    assert all(getattr(again, field) == getattr(found, field) for field in Resource.__slots__)
    assert overlaps(found, found)


@given(hostile)
def test_a_normal_path_is_already_normal(text: str) -> None:
    try:
        path = normalise(text)
    except Refusal:
        return
    assert normalise(path) == path
    assert not {"", ".", ".."} & set(path.split("/")) or path == ""


@given(st.text(), st.booleans(), st.booleans())
@example("\u0390", True, True)
@example("\u1fb3\u0345", True, True)
def test_folding_twice_is_folding_once(text: str, case: bool, nfc: bool) -> None:
    once = fold(text, case=case, nfc=nfc)
    assert fold(once, case=case, nfc=nfc) == once


@given(st.text(alphabet="a*?\\/", max_size=12))
def test_an_escaped_name_comes_back_and_is_no_glob(name: str) -> None:
    assert unescape(escape(name)) == name
    assert not is_glob(escape(name))


def test_no_folding_brings_forth_a_character_with_a_meaning() -> None:
    others = "\n".join(chr(code) for code in range(0x80, 0x110000) if not 0xD800 <= code <= 0xDFFF)
    assert not set("*?/\\.:#") & set(fold(others, case=True, nfc=True))
