"""Resources: how they are written, where they stand in the tree, which of them overlap."""

from __future__ import annotations

import pytest

from lineclear.core.claims.resources import KNOWN, ancestors, covers, overlaps, parse_resource
from lineclear.core.words.refusals import Refusal


@pytest.mark.parametrize(
    ("written", "text", "kind", "path", "node"),
    [
        ("src/a.py", "file:src/a.py", "file", "src/a.py", "file:/src/a.py"),
        ("file:./src//a.py", "file:src/a.py", "file", "src/a.py", "file:/src/a.py"),
        ("src/auth/", "file:src/auth/", "dir", "src/auth", "file:/src/auth"),
        ("src/auth/.", "file:src/auth/", "dir", "src/auth", "file:/src/auth"),
        ("src/auth/x/..", "file:src/auth/", "dir", "src/auth", "file:/src/auth"),
        (".", "file:./", "dir", "", "file:"),
        ("file:./", "file:./", "dir", "", "file:"),
        ("**/*.sql", "file:**/*.sql", "glob", "**/*.sql", "file:"),
        ("src/db/**/**/*.sql", "file:src/db/**/*.sql", "glob", "src/db/**/*.sql", "file:/src/db"),
        ("src/*/", "file:src/*/**", "glob", "src/*/**", "file:/src"),
        (
            "app/[id]/page.tsx",
            "file:app/[id]/page.tsx",
            "file",
            "app/[id]/page.tsx",
            "file:/app/[id]/page.tsx",
        ),
        ("what\\?.md", "file:what\\?.md", "file", "what?.md", "file:/what?.md"),
        ("src/a:b.py", "file:src/a:b.py", "file", "src/a:b.py", "file:/src/a:b.py"),
        ("README:1", "file:README:1", "file", "README:1", "file:/README:1"),
        ("aB:c", "file:aB:c", "file", "aB:c", "file:/aB:c"),
        ("a.py:10", "file:a.py:10", "file", "a.py:10", "file:/a.py:10"),
        ("file:row:x", "file:row:x", "file", "row:x", "file:/row:x"),
        ("file:a.py#x", "file:a.py#x", "file", "a.py#x", "file:/a.py#x"),
        ("row:users/42", "row:users/42", "name", "users/42", "row:/users/42"),
        ("row:/users//42/", "row:users/42", "name", "users/42", "row:/users/42"),
        ("row:users/*", "row:users/*", "glob", "users/*", "row:/users"),
        ("row:*", "row:*", "glob", "*", "row:"),
        ("value:plan/?", "value:plan/?", "glob", "plan/?", "value:/plan"),
        ("value:a\\*", "value:a\\*", "name", "a*", "value:/a*"),
        ("api:stripe", "api:stripe", "name", "stripe", "api:/stripe"),
        ("port:03000", "port:3000", "name", "3000", "port:/3000"),
    ],
)
def test_a_resource_has_one_text_and_one_place(
    written: str, text: str, kind: str, path: str, node: str
) -> None:
    found = parse_resource(written)
    assert (found.text, found.kind, found.path, found.node) == (text, kind, path, node)
    assert found.scheme == text.partition(":")[0]
    assert found.symbol == ""


@pytest.mark.parametrize(
    ("written", "path", "symbol", "node"),
    [
        ("symbol:src/a.py#Login.check", "src/a.py", "Login.check", "file:/src/a.py/#Login/#check"),
        ("symbol:./src//a.py#f", "src/a.py", "f", "file:/src/a.py/#f"),
        ("symbol:C#/Main.cs#Main", "C#/Main.cs", "Main", "file:/C#/Main.cs/#Main"),
        ("symbol:a.js#Login.#secret", "a.js", "Login.#secret", "file:/a.js/#Login/##secret"),
    ],
)
def test_a_symbol_stands_below_its_file(written: str, path: str, symbol: str, node: str) -> None:
    found = parse_resource(written)
    assert (found.scheme, found.kind) == ("symbol", "symbol")
    assert (found.path, found.symbol, found.node) == (path, symbol, node)
    assert found.text == f"symbol:{path}#{symbol}"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "file:",
        "../a",
        "/etc/passwd",
        "a\nb",
        "x" * 20_000,
        "\\*" * 4097,
        "src/**/../a",
        "symbol:a.py",
        "symbol:a.py#",
        "symbol:#f",
        "symbol:src/#f",
        "symbol:src/..#f",
        "symbol:d/a#b/.#f",
        "symbol:a#b.py#f",
        "symbol:a.py#f..g",
        "symbol:a.py#f/g",
        "symbol:a.py#f\ng",
        "symbol:*.py#f",
        "symbol:a.py#Login.*",
        "symbol:a.py#" + "f" * 513,
        "row:",
        "row:/",
        "row:..",
        "row:a\x00",
        "row:" + "a" * 513,
        "row:" + "*/" * 64 + "*",
        "row:" + "*/" * 63 + "*",
        "api:stripe/*",
        "port:0",
        "port:65536",
        "port:http",
        "port:٣",
        "port:*",
    ],
)
def test_what_names_nothing_is_refused(text: str) -> None:
    with pytest.raises(Refusal) as refused:
        parse_resource(text)
    assert refused.value.code == "resource.bad"
    assert len(str(refused.value)) <= 300


@pytest.mark.parametrize("text", ["rwo:users/42", "gpu:0", "x-1:y", "C:\\x", "c:/x", "http://x"])
def test_an_unknown_scheme_is_refused_and_the_known_ones_are_named(text: str) -> None:
    with pytest.raises(Refusal) as refused:
        parse_resource(text)
    assert refused.value.code == "resource.scheme"
    assert refused.value.facts["known"] == list(KNOWN)


def test_a_declared_scheme_is_known_beside_the_others() -> None:
    for schemes in (("gpu",), (*KNOWN, "gpu")):
        assert parse_resource("gpu:0", schemes=schemes).node == "gpu:/0"
        assert parse_resource("row:a", schemes=schemes).node == "row:/a"
        with pytest.raises(Refusal) as refused:
            parse_resource("tpu:0", schemes=schemes)
        assert refused.value.facts["known"] == [*KNOWN, "gpu"]


def test_the_caller_may_know_that_a_path_is_a_directory() -> None:
    assert parse_resource("src/auth", is_dir=True) == parse_resource("src/auth/")
    assert parse_resource("src/auth", is_dir=False).kind == "file"
    assert parse_resource("src/*", is_dir=True) == parse_resource("src/*/")


def test_a_literal_name_keeps_its_wildcards_and_backslashes() -> None:
    name = "src/a\\*?.py"
    found = parse_resource("file:" + name, literal=True)
    assert (found.kind, found.path) == ("file", name)
    assert parse_resource(found.text) == found
    starred = parse_resource("row:users/*", literal=True)
    assert (starred.kind, starred.text) == ("name", "row:users/\\*")


def test_case_is_folded_in_paths_and_composition_everywhere() -> None:
    assert parse_resource("SRC/A.py", fold_case=True).text == "file:src/a.py"
    assert parse_resource("SRC/*.PY", fold_case=True).text == "file:src/*.py"
    assert parse_resource("symbol:A.py#Login", fold_case=True).text == "symbol:a.py#Login"
    assert parse_resource("row:Users", fold_case=True).text == "row:Users"
    for prefix in ("", "symbol:a.py#", "row:"):
        apart, together = prefix + "u\u0308", prefix + "ü"
        assert parse_resource(apart) == parse_resource(together)
        assert parse_resource(apart, nfc=False) != parse_resource(together, nfc=False)


def test_resources_are_equal_and_hash_by_their_text() -> None:
    a, b = parse_resource("./a"), parse_resource("file:a")
    assert a == b
    assert len({a, b}) == 1
    assert a != parse_resource("a/")
    assert a != "file:a"
    assert repr(a) == "Resource('file:a')"


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ("file:", ["file:"]),
        ("file:/a", ["file:", "file:/a"]),
        ("file:/a/b.py/#X", ["file:", "file:/a", "file:/a/b.py", "file:/a/b.py/#X"]),
        ("row:/users/42", ["row:", "row:/users", "row:/users/42"]),
    ],
)
def test_ancestors_go_from_the_root_to_the_node(node: str, expected: list[str]) -> None:
    assert ancestors(node) == expected


def test_everything_below_a_node_lies_in_one_range_of_text() -> None:
    node = parse_resource("src/auth").node
    below = ["src/auth/a", "src/auth/ü", "src/auth/a/b", "symbol:src/auth#f", "src/auth/\U0010ffff"]
    beside = ["src/auth", "src/auth-x", "src/auth.py", "src/auth0", "src/auti", "src"]
    assert all(node + "/" < parse_resource(text).node < node + "0" for text in below)
    assert not any(node + "/" < parse_resource(text).node < node + "0" for text in beside)


OVERLAPPING = [
    ("a.py", "./a.py"),
    ("src/", "src/a.py"),
    ("src", "src/a.py"),
    (".", "src/a.py"),
    (".", "**/*.py"),
    ("a.py", "symbol:a.py#f"),
    ("src/", "symbol:src/a.py#f"),
    ("symbol:a.py#Login", "symbol:a.py#Login.check"),
    ("*.py", "a.py"),
    ("*.py", "symbol:a.py#f"),
    ("src/*.py", "src"),
    ("src/lib/*.py", "src"),
    ("src/*.py", "src/"),
    ("**/*.py", "docs/"),
    ("*", "docs/"),
    ("src/**", "**/*.py"),
    ("app/[id]/*", "app/[id]/page.tsx"),
    ("row:users", "row:users/42"),
    ("row:users/*", "row:users/42"),
    ("row:users/*", "row:users/42/name"),
    ("row:users/*", "row:users"),
    ("row:*/name", "row:users"),
    ("row:users/*", "row:users/42/*"),
    ("file:what\\?", "wha??"),
]

APART = [
    ("a.py", "b.py"),
    ("src", "src2/a.py"),
    ("src/", "src2"),
    ("src/a", "src/a.py"),
    ("symbol:a.py#f", "symbol:a.py#g"),
    ("symbol:a.py#f", "symbol:a.py#ff"),
    ("symbol:a.py#f", "symbol:b.py#f"),
    ("*.py", "src/a.py"),
    ("*.py", "symbol:a.sql#f"),
    ("**/*.py", "docs"),
    ("src/*.py", "docs/"),
    ("src/**", "docs/**"),
    ("app/[id]/page.tsx", "app/i/page.tsx"),
    ("row:users", "value:users"),
    ("row:users/*", "value:users/*"),
    ("row:**", "users"),
    ("**", "row:users"),
    ("row:users/*", "row:orders/1"),
    ("port:3000", "port:30001"),
]


@pytest.mark.parametrize(("a", "b"), OVERLAPPING)
def test_these_overlap(a: str, b: str) -> None:
    assert overlaps(parse_resource(a), parse_resource(b))
    assert overlaps(parse_resource(b), parse_resource(a))


@pytest.mark.parametrize(("a", "b"), APART)
def test_these_do_not_overlap(a: str, b: str) -> None:
    assert not overlaps(parse_resource(a), parse_resource(b))
    assert not overlaps(parse_resource(b), parse_resource(a))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("src/", "src/a.py"),
        ("src/", "src"),
        ("src/", "src/**/*.py"),
        (".", "**"),
        ("a.py", "symbol:a.py#f"),
        ("symbol:a.py#Login", "symbol:a.py#Login.check"),
        ("*.py", "a.py"),
        ("*.py", "symbol:a.py#f"),
        ("src/**", "src/lib/"),
        ("src/**", "src/lib/*.py"),
        ("*.py", "*.py"),
        ("row:users", "row:users/42"),
        ("row:users/*", "row:users/42/name"),
        ("row:users/*", "row:users/42/*"),
    ],
)
def test_one_covers_the_other(a: str, b: str) -> None:
    assert covers(parse_resource(a), parse_resource(b))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("src/a.py", "src/"),
        ("src", "src/"),
        ("src", "src/a.py"),
        ("src", "src/*.py"),
        ("src/", "**/*.py"),
        ("src/", "src2"),
        ("symbol:a.py#f", "a.py"),
        ("src/*", "src/lib/"),
        ("src/**/*.py", "src/"),
        ("*.py", "**/*.py"),
        ("**/lib", "src/lib/"),
        ("**/lib", "lib/*"),
        ("a.py", "symbol:b.py#f"),
        ("row:users/42", "row:users/*"),
        ("row:**", "users"),
        ("**", "row:users"),
    ],
)
def test_one_does_not_cover_the_other(a: str, b: str) -> None:
    assert not covers(parse_resource(a), parse_resource(b))
