"""Generated files: snapshots of tests, output of compilers and generators.

If both sides' lines conflict, no rule settles it: the program has to be run again on the merged sources. Lock
files have their own handler.
"""

from __future__ import annotations

import re

from lineclear.merge.registry import has_handler

_HEAD_CHARS, _HEAD_LINES = 2_000, 12
_SAYS_SO = re.compile(
    r"code generated\b.*\bdo not edit|@generated\b|\bautomatically generated\b|\bauto-?generated\b"
    r"|\b(?:this file|file|code) (?:is|was|has been) generated\b"
    r"|\bgenerated\b.*\bdo not (?:edit|modify|change)\b",
    re.I,
)
# (pattern of the path, what regenerates it)
_BY_NAME = (
    (re.compile(r".*\.snap"), "run the tests so that they update their snapshots (`jest -u`, `vitest -u`)"),
    (re.compile(r".*\.ambr"), "run `pytest --snapshot-update`"),
    (re.compile(r".*(?:_pb2(?:_grpc)?\.pyi?|\.pb\.(?:go|cc|h)|_grpc\.pb\.go)"), "run `protoc` again"),
    (re.compile(r".*\.min\.(?:js|css)|.*\.(?:js|css)\.map"), "build it again"),
    (re.compile(r".*\.(?:g|freezed)\.dart"), "run `dart run build_runner build`"),
    (re.compile(r"(?:.*/)?db/schema\.rb"), "run `bin/rails db:schema:dump`"),
    (re.compile(r"(?:.*/)?zz_generated[^/]*"), "run its generator again"),
)


def why_generated(path: str, left: str, right: str) -> str:
    """Says that the file is generated and what to do; "" for a file that people write."""
    for pattern, action in _BY_NAME:
        if pattern.fullmatch(path):
            return f"{path.rpartition('/')[2]} is generated: merge what it is made from, then {action}"
    if not has_handler(path) and _says_so(left) and _says_so(right):
        return "the file says that it is generated: merge what it is made from, then run its generator again"
    return ""


def _says_so(text: str) -> bool:
    return any(_SAYS_SO.search(line) for line in text[:_HEAD_CHARS].split("\n")[:_HEAD_LINES])
