"""Which package manager writes which lock file, with which command, and which files it needs for that.

Data only: nothing is run here. Each command writes the lock file and nothing else, installs nothing, runs no
script of a package, and keeps the locked versions as far as the manifests allow it.
A lock file that is not in the table has no such command (yarn 1, pipenv, gradle), or needs none (go.sum).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_ANYWHERE = r"(?:.*/)?(?:{})"


class Maker:
    """A command that writes a lock file, run in the file's directory.

    `words`: the command. `least`: the first version of the package manager that works like this. The others
    are patterns of whole paths. `manifests`: files that it reads as merged. `settings`: its own settings, as
    on main. `sources`: files of which only the names matter. `hooks`: if the tree has one of these, the lock
    file depends on a program of the repository. `leaves`: files that the command may leave beside the lock
    file.
    """

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
        """Does the command need this file, as merged?"""
        return bool(self.manifests.fullmatch(path))


def _pattern(names: str) -> re.Pattern[str]:
    """Matches files with one of these names in any directory; "" matches nothing."""
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
        # Without --no-frozen-lockfile it refuses to write if CI is set.
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
            # Use the installed yarn, not a file of the repository.
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
        # Cargo ignores a package without a target.
        sources=r"[^/]*\.rs",
    ),
    "uv.lock": Maker(
        # Without --no-build it may run the build script of a package.
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
    """Does some lock file depend on this file?"""
    return any(maker.needs(path) for maker in MAKERS.values())
