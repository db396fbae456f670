"""wiring/ finds, reads settings, opens and builds: it reads no row, writes no file, and refuses only what it
cannot open."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

WIRING = Path(__file__).parents[2] / "src" / "lineclear" / "wiring"
# A store that cannot be opened, and git's own failure in our words.
MAY_SAY = ("store.",)
READS = {"get", "pick", "scan", "sift"}
# What these do to files belongs in host/, git/ or settings/.
WRITES = {
    "open", "write_atomically", "write_new", "remove_tree", "os.makedirs", "os.mkdir", "os.unlink",
    "os.remove", "os.rmdir", "os.rename", "os.replace", "shutil.rmtree",
}  # fmt: skip


def does_more(text: str) -> list[str]:
    """What a module does that is not building, by its place."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("refuse", "not_found")
        ):
            code = node.args[0]
            if not (isinstance(code, ast.Constant) and str(code.value).startswith(MAY_SAY)):
                found.append(f"line {node.lineno} refuses")
        if isinstance(node, ast.Call) and ast.unparse(node.func) in WRITES:
            found.append(f"line {node.lineno} reads or writes files")
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = ast.unparse(node.func.value)
            is_read = node.func.attr in READS and owner in ("view", "tx")
            if is_read or (node.func.attr in ("read", "transact") and owner.endswith("store")):
                found.append(f"line {node.lineno} reads or writes rows")
    return found


@pytest.mark.parametrize("name", sorted(path.name for path in WIRING.glob("*.py")))
def test_wiring_only_builds(name: str) -> None:
    assert does_more((WIRING / name).read_text()) == []


def test_a_story_in_wiring_would_be_found() -> None:
    assert does_more('def land(repo):\n    raise refuse("queue.order")\n') == ["line 2 refuses"]
    assert does_more("def land(repo):\n    repo.store.read(f)\n") == ["line 2 reads or writes rows"]
    assert does_more("def land(path):\n    os.unlink(path)\n") == ["line 2 reads or writes files"]
