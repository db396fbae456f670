"""Files of any size in languages without a program among the tests: a head, a pattern many times, a tail.

`ADDED` is what one more line looks like in each kind of file.
"""

from __future__ import annotations

# name of the file -> (head, what is repeated with a number, tail)
PATTERNS: dict[str, tuple[str, str, str]] = {
    "stock.c": (
        "#include <stdio.h>\n\n",
        "int count%(n)d(int price) {\n    int total = 0;\n    if (price > 3) {\n        total += price;\n"
        "    }\n    total = total + 12;\n    return total;\n}\n\n",
        "",
    ),
    "stock.css": ("", ".shelf%(n)d {\n  z-index: 12;\n  color: red;\n  margin: 0 auto;\n}\n\n", ""),
    "stock.md": (
        "# Stock\n\n",
        "## Shelf %(n)d\n\nHolds 12 items of a kind.\nNobody counts them twice.\n\n- first\n- second\n\n",
        "",
    ),
    "stock.sql": (
        "",
        "CREATE TABLE shelf%(n)d (\n  id INTEGER PRIMARY KEY,\n  size INTEGER DEFAULT 12,\n"
        "  name TEXT\n);\n\n",
        "",
    ),
    "stock.yaml": ("", "shelf%(n)d:\n  name: left\n  size: 12\n  items:\n    - one\n    - two\n", ""),
    "stock.json": (
        "{\n",
        '  "shelf%(n)d": {\n    "size": 12,\n    "name": "left",\n    "items": ["one", "two"]\n  },\n',
        '  "last": {}\n}\n',
    ),
    "stock.toml": ("", '[shelf%(n)d]\nsize = 12\nname = "left"\nitems = ["one", "two"]\n\n', ""),
    "stock.xml": (
        '<?xml version="1.0"?>\n<stock>\n',
        '  <shelf id="s%(n)d">\n    size 12 of all\n    <item>one</item>\n  </shelf>\n',
        "</stock>\n",
    ),
    "stock.html": (
        "<html>\n<body>\n",
        '  <div id="s%(n)d">\n    size 12 of all\n    <p>one</p>\n  </div>\n',
        "</body>\n</html>\n",
    ),
}

_CALL = "{name}{turn}(now)"
ADDED = {
    **dict.fromkeys(("py", "rb", "kt", "go"), _CALL + "\n"),
    **dict.fromkeys(("rs", "java", "ts", "cs", "cpp", "c", "php"), _CALL + ";\n"),
    "sh": "{name}{turn} now\n",
    "css": "{name}{turn}: auto;\n",
    "md": "The {name} has {turn}.\n",
    "sql": "{name}{turn} INTEGER,\n",
    "yaml": "{name}{turn}: 0\n",
    "json": '"{name}{turn}": 0,\n',
    "toml": "{name}{turn} = 0\n",
    "xml": "<{name}>{turn}</{name}>\n",
    "html": "<b>{name} {turn}</b>\n",
}


def grown_from(pattern: tuple[str, str, str], size_kb: int) -> str:
    head, part, tail = pattern
    count = size_kb * 1000 // len(part) + 1
    return head + "".join(part % {"n": number} for number in range(count)) + tail
