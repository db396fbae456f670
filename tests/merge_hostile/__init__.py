"""Texts that made parsers or handlers fail, and their like: (path, text with a place for VALUE or NUMBER).

Small programs write them, since most are long and of one shape.
"""

from __future__ import annotations

ODD_ENDS = {
    "line separator": "\u2028",
    "next line": "\x85",
    "form feed": "\x0c",
    "return": "\r",
    "vt": "\x0b",
}


def _nested(opening: str, closing: str, depth: int) -> str:
    return opening * depth + "VALUE" + closing * depth + "\n"


CASES: dict[str, tuple[str, str]] = {
    "yaml, keys 253 deep": (
        "a.yaml",
        "".join(f"{'  ' * at}k{at}:\n" for at in range(253)) + "  " * 253 + "v: VALUE\n",
    ),
    "yaml, 260 lists on one line": ("a.yml", "- " * 260 + "VALUE\n"),
    "yaml, flow lists": ("a.yaml", "a: " + _nested("[", "]", 2_000)),
    "yaml, an alias of itself": ("a.yaml", "a: &a [*a]\nb: VALUE\n"),
    "json, lists": ("a.json", _nested("[", "]", 3_000)),
    "json, objects": ("a.json", _nested('{"a":', "}", 3_000).replace("VALUE", '"VALUE"')),
    "json, one key twice": ("a.json", '{"a": 1, "a": "VALUE"}\n'),
    "toml, tables": ("a.toml", "[" + ".".join("a" * 1_500) + "]\nx = 'VALUE'\n"),
    "toml, arrays": ("a.toml", "a = " + _nested("[", "]", 1_500).replace("VALUE", "'VALUE'")),
    "xml, elements": ("a.xml", _nested("<a>", "</a>", 3_000)),
    "xml, nothing closes": ("a.xml", "<a " * 2_000 + "VALUE\n"),
    "css, blocks": ("a.css", _nested("a{", "}", 1_500)),
    "css, comments that do not end": ("a.css", "/*" * 3_000 + "VALUE\n"),
    "markdown, a fence that does not end": ("a.md", "# A\n```\nVALUE\n"),
    "changelog, points": (
        "CHANGELOG.md",
        "# A\n" + "".join(f"{' ' * at}- a\n" for at in range(300)) + "- VALUE\n",
    ),
    "python, brackets": ("a.py", "a = " + _nested("(", ")", 2_000)),
    "python, indents": ("a.py", "".join(f"{' ' * at}if a:\n" for at in range(300)) + " " * 300 + "VALUE\n"),
    "typescript, arrows": ("a.ts", "a = " + "() => " * 1_000 + "VALUE\n"),
    "sql, brackets": ("a.sql", "select " + _nested("(", ")", 1_500)),
    "go.mod, a block that does not end": ("go.mod", "module a\nrequire (\n\tb VALUE\n"),
    "lock, brackets": ("package-lock.json", _nested('{"packages":', "}", 2_000).replace("VALUE", '"VALUE"')),
    "lock, no fields": ("Cargo.lock", '[[package]]\n\n[[package]]\nname = "VALUE"\n'),
    "no letters": ("a.py", "\ufeff\ud800\x01VALUE\x7f\n"),
    # `int` refuses numbers of more than 4,300 digits.
    **{
        f"{path}, a long number": (path, text.replace("LONG", "1" * 5_000))
        for path, text in (
            ("requirements.txt", "a==LONG.1\nb==LONG.NUMBER\nc\nd\ne\nf\n"),
            ("package.json", '{"dependencies": {"a": "^LONG.0.0", "b": "^LONG.NUMBER.0"}}\n'),
            (
                "package-lock.json",
                '{"lockfileVersion": 3, "packages": {"a": {"version": "LONG.0.NUMBER"}}}\n',
            ),
            ("go.mod", "module a\nrequire b vLONG.0.NUMBER\n"),
            ("pyproject.toml", '[project]\nversion = "LONG.0.NUMBER"\ndependencies = ["a>=LONG.NUMBER"]\n'),
            ("CHANGELOG.md", "# LONG.3\n- a #LONG3\n\n# LONG.2\n- b #LONG2 NUMBER\n- c #LONG1\n"),
            ("a.py", 'version = "LONG.0.NUMBER"\n'),
        )
    },
    "one long line": ("a.js", "a," * 20_000 + "VALUE," + "b," * 20_000 + "\n"),
    **{
        f"{kind}, {name}": (path, text.replace("ODD", odd))
        for name, odd in ODD_ENDS.items()
        for kind, path, text in (
            ("gradle", "build.gradle", 'dependencies {\n    x "aODDb"\n    implementation "VALUE"\n}\n'),
            ("gems", "Gemfile", 'gem "aODDb"\ngem "VALUE"\n'),
            ("yaml", "a.yaml", 'a: "xODDy"\nb: VALUE\n'),
            ("list", "requirements.txt", "aODD\nVALUE\n"),
            ("markdown", "a.md", "# AODDa\nVALUE\n"),
            ("changelog", "CHANGES.md", "# AODDa\n- VALUE\n- bODDc\n"),
            ("lock", "Gemfile.lock", "GEM\n  specs:\n    aODD (1)\n    b (VALUE)\n"),
        )
    },
}


# For each handler a file that it merges; tests plant a crash there.
HANDLED = {
    "build_scripts": "bad/build.gradle",
    "changelogs": "bad/CHANGELOG.md",
    "go_files": "bad/go.mod",
    "json_files": "bad/a.json",
    "list_files": "bad/requirements.txt",
    "locks": "bad/Cargo.lock",
    "markdown_files": "bad/a.md",
    "sql_files": "bad/a.sql",
    "style_files": "bad/a.css",
    "toml_files": "bad/a.toml",
    "xml_files": "bad/a.xml",
    "yaml_files": "bad/a.yaml",
}


def sides(text: str) -> tuple[str, str, str]:
    """Base, left and right: the same text with three values."""
    base, left, right = (
        text.replace("VALUE", f"v{number}").replace("NUMBER", number) for number in ("1", "22", "333")
    )
    return base, left, right
