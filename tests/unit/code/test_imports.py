"""What an import brings in: the module and the name, as each language writes it."""

from __future__ import annotations

import pytest

from lineclear.code.imports import imported_names, name_bound_by, name_used_for
from lineclear.code.languages import language_named, language_of
from lineclear.code.parse import parse


def imported(path: str, text: str) -> list[str]:
    language = language_of(path)
    assert language is not None
    tree = parse(language, text)
    assert tree is not None
    found: list[str] = []
    todo = [tree.root_node]
    while todo:
        node = todo.pop(0)
        if node.type in language.imports:
            found += imported_names(language, node)
        todo += node.named_children
    return found


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.py", "from a.b import c, d as e\n", ["a.b: c", "a.b: d as e"]),
        ("a.py", "import a.b, c\n", ["import a.b", "import c"]),
        ("a.py", "from __future__ import annotations\n", ["__future__: annotations"]),
        ("a.py", "from a import *\n", ["from a import *"]),
        ("a.ts", "import d, { a, b as c } from './m'\n", ["./m: d", "./m: a", "./m: b as c"]),
        ("a.ts", "import type { A } from './m'\n", ["./m (type): A"]),
        ("a.ts", "import './m';\n", ["import './m'"]),
        ("a.go", 'package a\nimport (\n\t"fmt"\n\tx "net/http"\n)\n', ['"fmt"', 'x "net/http"']),
        ("a.rs", "use a::{b, c::{d, e}};\n", ["usea::b", "usea::c::d", "usea::c::e"]),
        ("A.java", "import a.b.C;\n", ["import a.b.C;"]),
        ("a.cs", "using A.B;\n", ["using A.B;"]),
        ("a.php", "<?php\nuse A\\B;\n", ["use A\\B;"]),
        ("a.c", '#include "a.h"\n', ['#include "a.h"']),
    ],
)
def test_the_names_of_an_import(path: str, text: str, expected: list[str]) -> None:
    assert imported(path, text) == expected


@pytest.mark.parametrize(
    ("language", "text", "bound", "used"),
    [
        ("python", "a.b: d as e", "e", "e"),
        ("python", "from a import *", "", "import"),
        ("java", "import a.b.C;", "C", "C"),
        ("go", '"semconv/v1.4.0"', "", "semconv"),
        ("c_sharp", "using A.B;", "", ""),
        ("c", '#include "a.h"', "", ""),
    ],
)
def test_the_name_under_which_an_import_is_known(language: str, text: str, bound: str, used: str) -> None:
    assert name_bound_by(language_named(language), text) == bound
    assert name_used_for(language_named(language), text) == used
