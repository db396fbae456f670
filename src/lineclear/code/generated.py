"""Files that nobody writes by hand: output of generators, snapshots of tests, copies of other projects."""

from __future__ import annotations

import re

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
_COPIED = re.compile(r"(?:^|/)(?:node_modules|vendor|third_party|bower_components|site-packages)/")


def what_regenerates(path: str) -> str:
    """How to make the file again, if its name says that it is generated; else ""."""
    return next((action for pattern, action in _BY_NAME if pattern.fullmatch(path)), "")


def says_it_is_generated(text: str) -> bool:
    return any(_SAYS_SO.search(line) for line in text[:_HEAD_CHARS].split("\n")[:_HEAD_LINES])


def is_copied(path: str) -> bool:
    """Does the file lie in a directory for other projects' code?"""
    return _COPIED.search(path) is not None
