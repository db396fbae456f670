"""Lock files are generated, so they are never merged as text, only by entry if the result is provably sound.

Otherwise the conflict names the command that writes a new one.
"""

from __future__ import annotations

from shlex import quote

from lineclear.merge.diff import Steps
from lineclear.merge.engine import FileMerge
from lineclear.merge.handlers.keyed import RivalChanges
from lineclear.merge.handlers.lock_entries import merge_packages
from lineclear.merge.handlers.npm_lock import merge_npm_lock
from lineclear.merge.result import Labels, MergeResult

COMMANDS = {
    "package-lock.json": "npm install --package-lock-only",
    "npm-shrinkwrap.json": "npm install --package-lock-only",
    "yarn.lock": "yarn install",
    "pnpm-lock.yaml": "pnpm install --lockfile-only",
    "bun.lock": "bun install --lockfile-only",
    "Cargo.lock": "cargo update --workspace",
    "poetry.lock": "poetry lock",
    "uv.lock": "uv lock",
    "pdm.lock": "pdm lock --update-reuse",
    "Pipfile.lock": "pipenv lock",
    "composer.lock": "composer update --lock",
    "Gemfile.lock": "bundle lock",
    "gradle.lockfile": "gradle dependencies --write-locks",
    "mix.lock": "mix deps.get",
    "flake.lock": "nix flake lock",
    "packages.lock.json": "dotnet restore --force-evaluate",
    "go.sum": "go mod tidy",
}


def merge(path: str, base: str, left: str, right: str, labels: Labels) -> MergeResult | None:
    try:
        result = _merged(path.rsplit("/", 1)[-1], base, left, right)
    except RivalChanges:  # the advice for a lock file is the same, whatever conflicts
        result = None
    return result or refuse(path, base, left, right, labels)


def _merged(name: str, base: str, left: str, right: str) -> MergeResult | None:
    if name in ("Cargo.lock", "uv.lock"):
        return merge_packages(name, base, left, right)
    if name in ("package-lock.json", "npm-shrinkwrap.json"):
        return merge_npm_lock(base, left, right)
    return None


def command_for(path: str) -> str:
    """The command that regenerates this lock file, run from the root of the tree; "" for any other file."""
    folder, _, name = path.rpartition("/")
    command = COMMANDS.get(name, "")
    return f"(cd {quote(folder)} && {command})" if command and folder else command


def refuse(path: str, base: str, left: str, right: str, labels: Labels) -> MergeResult:
    """Always a conflict: no rule for text may settle a file that a program regenerates."""
    name = path.rsplit("/", 1)[-1]
    steps = Steps(20_000 + 64 * (len(base) + len(left) + len(right)))
    doubt = f"{name} is generated: merge the manifest, then run `{COMMANDS[name]}`"
    result = FileMerge(path, base, left, right, labels, steps).plain(doubt)
    for conflict in result.conflicts:
        conflict.kind, conflict.rule = "lock file", "locks"
    return result
