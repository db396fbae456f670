"""Which package manager makes which lock file, by which command, and what it has to be shown for that.

Words only: nothing is run here. Each command writes the lock file and nothing else, installs nothing, runs no
script of a package, and keeps the versions that the lock file has, as far as the manifests allow it.
A lock file that is not in the table has no such command (yarn 1, pipenv, gradle), or needs none (go.sum).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_ANYWHERE = r"(?:.*/)?(?:{})"


class Maker:
    """`words` are the command, run in the lock file's directory; before the version `least` it would do
    something else. Patterns are of whole paths: `manifests` are what the merge made of them; `settings` say
    how the package manager works, and are main's; of `sources` only the names count; with one of `hooks` in
    the tree the lock file depends on a program of the repository. `leaves` may be left beside it."""

    def __init__(
        self,
        command: str,
        *,
        manifests: str,
        settings: str = "",
        sources: str = "",
        hooks: str = "",
        leaves: str = "",
        least: tuple[int, int] = (0, 0),
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.words = tuple(command.split())
        self.name, self.least, self.env = self.words[0], least, dict(env or {})
        self.manifests, self.settings, self.sources, self.hooks, self.leaves = (
            _pattern(text) for text in (manifests, settings, sources, hooks, leaves)
        )

    def needs(self, path: str) -> bool:
        """Does it have to see this file, as the merge made it?"""
        return bool(self.manifests.fullmatch(path))


def _pattern(names: str) -> re.Pattern[str]:
    """Of files with one of these names in any directory; nothing matches an empty one."""
    return re.compile(_ANYWHERE.format(names) if names else r"(?!)")


_NPM = Maker(
    "npm install --package-lock-only --ignore-scripts --no-audit --no-fund",
    manifests=r"package\.json|[^/]*\.tgz",
    settings=r"\.npmrc",
    least=(7, 0),  # earlier ones write the old form only
)

MAKERS = {
    "package-lock.json": _NPM,
    "npm-shrinkwrap.json": _NPM,
    "pnpm-lock.yaml": Maker(
        # Without the last word it refuses to write where CI is set.
        "pnpm install --lockfile-only --ignore-scripts --ignore-pnpmfile --no-frozen-lockfile",
        manifests=r"package\.json|pnpm-workspace\.yaml|[^/]*\.(?:tgz|patch)",
        settings=r"\.npmrc",
        hooks=r"\.?pnpmfile\.[cm]?js",
    ),
    "yarn.lock": Maker(
        "yarn install --mode=update-lockfile",
        manifests=r"package\.json|\.yarn/patches/[^/]*",
        settings=r"\.yarnrc\.yml",
        leaves=r"\.yarn/.*|\.pnp\..*",
        least=(3, 0),
        env={
            # The yarn that is installed, not a file of the repository.
            "YARN_IGNORE_PATH": "1",
            "YARN_ENABLE_SCRIPTS": "0",
            "YARN_ENABLE_IMMUTABLE_INSTALLS": "0",
            "YARN_ENABLE_GLOBAL_CACHE": "1",
        },
    ),
    "Cargo.lock": Maker(
        "cargo update --workspace",
        manifests=r"Cargo\.toml",
        settings=r"\.cargo/config(?:\.toml)?|rust-toolchain(?:\.toml)?",
        # A package without a target is no package for it.
        sources=r"[^/]*\.rs",
    ),
    "uv.lock": Maker(
        # Without the last word it may run what a package is built with.
        "uv lock --no-build",
        manifests=r"pyproject\.toml",
        settings=r"uv\.toml|\.python-version",
    ),
    "poetry.lock": Maker(
        "poetry lock --no-interaction --no-plugins",
        manifests=r"pyproject\.toml",
        settings=r"poetry\.toml",
        least=(2, 0),  # earlier ones raise every version
    ),
    "composer.lock": Maker(
        "composer update --minimal-changes --no-install --no-scripts --no-plugins --no-audit -n",
        manifests=r"composer\.json",
        settings=r"auth\.json",
        least=(2, 9),  # earlier ones know --minimal-changes for named packages only
    ),
    "Gemfile.lock": Maker(
        "bundle lock",
        manifests=r"Gemfile|[^/]*\.gemspec|version\.rb",
        settings=r"\.bundle/config|\.ruby-version|\.tool-versions",
        env={"BUNDLE_FROZEN": "false"},
    ),
}


def maker_of(path: str) -> Maker | None:
    return MAKERS.get(path.rsplit("/", 1)[-1])


def is_manifest(path: str) -> bool:
    """Does some lock file depend on what stands in it?"""
    return any(maker.needs(path) for maker in MAKERS.values())
