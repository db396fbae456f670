"""Lock files are generated: two of them are never merged as text. The conflict names what makes a new one."""

from __future__ import annotations

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
    return refuse(path, base, left, right, labels)


def refuse(path: str, base: str, left: str, right: str, labels: Labels) -> MergeResult:
    """A conflict whatever the lines say: no rule for text may settle what a program must make anew."""
    from lineclear.merge.diff import Steps
    from lineclear.merge.engine import FileMerge

    name = path.rsplit("/", 1)[-1]
    steps = Steps(20_000 + 64 * (len(base) + len(left) + len(right)))
    doubt = f"{name} is generated: merge the manifest, then run `{COMMANDS[name]}`"
    result = FileMerge(path, base, left, right, labels, steps).plain(doubt)
    for conflict in result.conflicts:
        conflict.kind, conflict.rule = "lock file", "locks"
    return result
