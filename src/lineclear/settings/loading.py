"""The loader: reads the two settings files, the environment and flags into one value.

Cheap if there is nothing to read: the modules that check values and tables are loaded when they are needed.
"""

from __future__ import annotations

import os
import stat

from lineclear.core.words.computed.settings import broken_settings, settings_too_large
from lineclear.core.words.refusals import Refusal, refuse
from lineclear.settings.other_variables import OTHER_VARIABLES
from lineclear.settings.setting import PREFIX, TO_COUNT
from lineclear.settings.table import (
    DEFAULT,
    FLAG,
    LOCAL_FILE,
    SECTIONS,
    SETTINGS,
    TEAM_FILE,
    VARIABLES,
    Settings,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from lineclear.settings.setting import Setting

    Nested = tuple[str, str, object]
    # Is this text trusted at this place?
    Trusted = Callable[[str, str], bool]

MAX_FILE_BYTES = 256 * 1024
# The parser's work grows with the square of the parts of a dotted key: one long key could take hours.
MAX_DOTS_IN_LINE = 100
_TRUSTED_TO_COUNT = tuple(row for row in SETTINGS.values() if row.trust == TO_COUNT)
# Tables whose keys a file chooses itself; nested.py reads them.
NESTED = ("strategy", "workers", "prices", "worktrees.env", "checks.paths")


def load_settings(
    *,
    root: str,
    local_dir: str,
    environ: Mapping[str, str],
    flags: Mapping[str, str] | None = None,
    folds_case: bool = False,
    for_agent: bool = False,
) -> Settings:
    """Defaults, the team's file, this clone's file, the environment, flags: a later source wins.

    `folds_case` is the meaning of `paths.fold_case = "auto"` in this repository. `for_agent`: the caller is,
    or may be, an agent, whose variables must not loosen a rule.
    """
    team = _read_bytes(TEAM_FILE, f"{root}/{TEAM_FILE}")
    return load_under(
        team, root=root, local_dir=local_dir, environ=environ, flags=flags, folds_case=folds_case,
        for_agent=for_agent,
    )  # fmt: skip


def load_under(
    team: bytes | None,
    *,
    root: str,
    local_dir: str,
    environ: Mapping[str, str],
    flags: Mapping[str, str] | None = None,
    folds_case: bool = False,
    for_agent: bool = False,
) -> Settings:
    """Like `load_settings`, with the content of the team's file, for example from a commit."""
    return build_settings(
        team=team,
        local=_read_bytes(LOCAL_FILE, f"{local_dir}/{LOCAL_FILE}"),
        environ=environ,
        flags=flags,
        folds_case=folds_case,
        for_agent=for_agent,
        root=root,
        is_trusted=_trusted_in(local_dir),
    )


def _trusted_in(local_dir: str) -> Trusted:
    def is_trusted(where: str, text: str) -> bool:
        from lineclear.core.trust import RECORD, digest, read_record
        from lineclear.host.private_record import RecordFile

        return digest(where, text) in read_record(RecordFile(f"{local_dir}/{RECORD}").read())

    return is_trusted


def build_settings(
    *,
    team: bytes | None = None,
    local: bytes | None = None,
    environ: Mapping[str, str],
    flags: Mapping[str, str] | None = None,
    folds_case: bool = False,
    for_agent: bool = False,
    root: str = "",
    is_trusted: Trusted = lambda _where, _text: False,
) -> Settings:
    """Like `load_settings`, from the content of both files; None is a missing file."""
    settings = Settings()
    settings.root, settings.for_agent, settings.team = root, for_agent, team
    nested: list[Nested] = []
    for origin, data in ((TEAM_FILE, team), (LOCAL_FILE, local)):
        if data:
            nested += _take_table(settings, origin, _parse(origin, data))
        if origin == TEAM_FILE:
            _hold_untrusted(settings, is_trusted)
    _take_environment(settings, environ)
    if flags:
        _take_flags(settings, flags)
    if nested:
        # Last: reading a match or a worker needs the final values of plain settings.
        from lineclear.settings.nested import take_nested

        take_nested(settings, nested, folds_case)
    settings.warnings += [
        f"{TEAM_FILE}: {name} does not count before a person trusts it. Next: lineclear trust --show"
        for name in settings.held
    ]
    _check_ports(settings)
    if settings.merge_regenerate:
        _check_patterns(settings)
    return settings


# -- files ------------------------------------------------------------------------------------


def _read_bytes(origin: str, path: str) -> bytes | None:
    """Reads one byte more than allowed, to detect a file that is too large."""
    try:
        # O_NONBLOCK: a pipe that nobody writes to would block every command.
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise refuse("settings.unreadable", origin=origin, path=path, why="it is not a plain file")
            with open(fd, "rb", closefd=False) as file:
                return file.read(MAX_FILE_BYTES + 1)
        finally:
            os.close(fd)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise refuse(
            "settings.unreadable", origin=origin, path=path, why=os.strerror(error.errno or 0)
        ) from None


def _parse(origin: str, data: bytes) -> dict[str, Any]:
    if len(data) > MAX_FILE_BYTES:
        raise settings_too_large(origin, MAX_FILE_BYTES)
    text = _decode(origin, data)
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > MAX_DOTS_IN_LINE:
            raise broken_settings(origin, number, f"it has more than {MAX_DOTS_IN_LINE} dots")
    from tomllib import TOMLDecodeError, loads

    try:
        return loads(text)
    except TOMLDecodeError as error:
        why, line_number = _explain(str(error), text)
    except RecursionError:
        why, line_number = "it is nested too deeply", 0
    except ValueError:
        # Not the parser's own error: Python refuses to read a number of thousands of digits.
        why, line_number = "a number in it is too long", 0
    raise broken_settings(origin, line_number, why)


def _decode(origin: str, data: bytes) -> str:
    try:
        return data.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
    raise broken_settings(origin, line, "its bytes are not UTF-8")


def _explain(message: str, text: str) -> tuple[str, int]:
    """The parser's message and the line, which before Python 3.14 is only part of the message."""
    why, _, place = message.rpartition(" (at ")
    line = place.removeprefix("line ").partition(",")[0]
    return why, int(line) if line.isdecimal() else text.count("\n") + 1


# -- the sources ------------------------------------------------------------------------------


def _take_table(settings: Settings, origin: str, table: dict[str, Any]) -> list[Nested]:
    """Sets every plain key and returns the tables that must wait for them."""
    nested: list[Nested] = []
    for section, content in table.items():
        if section in NESTED:
            nested.append((section, origin, content))
        elif isinstance(content, dict) and section in SECTIONS:
            nested += _take_section(settings, origin, section, content)
        elif section in SECTIONS:
            from lineclear.settings.values import bad_value, describe

            raise bad_value(origin, section, describe(content), f"a section, [{section}]")
        elif isinstance(content, dict):
            tables = (*SECTIONS, *(name for name in NESTED if "." not in name))
            _warn_of_unknown(settings, origin, "section", section, tables)
        else:
            _take_key(settings, origin, section, content)
    return nested


def _take_section(settings: Settings, origin: str, section: str, content: dict[str, Any]) -> list[Nested]:
    nested: list[Nested] = []
    for key, given in content.items():
        name = f"{section}.{key}"
        if name in NESTED:
            nested.append((name, origin, given))
        else:
            _take_key(settings, origin, name, given)
    return nested


def _take_key(settings: Settings, origin: str, name: str, given: object) -> None:
    setting = SETTINGS.get(name)
    if setting is None:
        _warn_of_unknown(
            settings, origin, "key", name, (*SETTINGS, *(table for table in NESTED if "." in table))
        )
        return
    _set(settings, setting, given, origin)
    if setting.is_secret and origin == TEAM_FILE:
        from lineclear.settings.showing import redact

        if redact(settings.store_url) != settings.store_url:
            settings.warnings.append(
                f"{origin}: {name} holds a password; move it to .git/lineclear/local.toml."
            )


def _take_environment(settings: Settings, environ: Mapping[str, str]) -> None:
    """An empty variable counts as not set."""
    for variable in environ:
        if not variable.startswith(PREFIX) or variable[len(PREFIX) :] in OTHER_VARIABLES:
            continue
        setting = VARIABLES.get(variable)
        if setting is None:
            _warn_of_unknown(settings, "environment", "variable", variable, tuple(VARIABLES))
        elif environ[variable] and _may_set(settings, setting, environ[variable]):
            _set_text(settings, setting, environ[variable], variable)


def _may_set(settings: Settings, setting: Setting, text: str) -> bool:
    if not settings.for_agent:
        return True
    from lineclear.settings.values import from_text, read_value

    after = read_value(setting, from_text(setting.kind, text), setting.variable)
    if setting.name not in settings.held and setting.agent_may_set(
        getattr(settings, setting.attribute), after
    ):
        return True
    settings.overruled[setting.name] = setting.variable
    settings.warnings.append(
        f"{setting.variable} does not count for an agent: {setting.name} stays as it is."
    )
    return False


def _take_flags(settings: Settings, flags: Mapping[str, str]) -> None:
    for name, text in flags.items():
        setting = SETTINGS.get(name)
        if setting is None:
            from lineclear.settings.unknown import suggestion

            raise refuse("settings.unknown", name=name, hint=suggestion(name, tuple(SETTINGS)))
        _set_text(settings, setting, text, FLAG)


def _set_text(settings: Settings, setting: Setting, text: str, origin: str) -> None:
    from lineclear.settings.values import from_text

    _set(settings, setting, from_text(setting.kind, text), origin)


def _set(settings: Settings, setting: Setting, given: object, origin: str) -> None:
    from lineclear.settings.values import read_value

    setattr(settings, setting.attribute, read_value(setting, given, origin))
    settings.origins[setting.name] = origin
    settings.held.pop(setting.name, None)


def _hold_untrusted(settings: Settings, is_trusted: Trusted) -> None:
    """Put the default back for each value of the team's file that has to be trusted before it counts."""
    for setting in _TRUSTED_TO_COUNT:
        value = getattr(settings, setting.attribute)
        if settings.origins[setting.name] == TEAM_FILE and setting.needs_trust(value, settings.root):
            from lineclear.settings.showing import show_for_trust

            text = show_for_trust(setting, value)
            if not is_trusted(setting.name, text):
                setattr(settings, setting.attribute, setting.default)
                settings.origins[setting.name] = DEFAULT
                settings.held[setting.name] = text


def _warn_of_unknown(settings: Settings, origin: str, kind: str, name: str, known: tuple[str, ...]) -> None:
    from lineclear.settings.unknown import warn_of_unknown

    warn_of_unknown(settings, origin, kind, name, known)


def _check_ports(settings: Settings) -> None:
    """The two ends can come from different sources, so compare them after all sources are read."""
    first, last = settings.worktrees_ports_from, settings.worktrees_ports_to
    if last - first + 1 < settings.worktrees_ports:
        name = "worktrees.ports_to"
        expected = (
            f"room for worktrees.ports ({settings.worktrees_ports}) from worktrees.ports_from ({first}) on"
        )
        raise refuse(
            "settings.value", origin=settings.origins[name], name=name, given=str(last), expected=expected
        )


def _check_patterns(settings: Settings) -> None:
    """A pattern that cannot match any path is a mistake. If it only matches no lock file that we know, the
    doctor reports it: another version may know that file."""
    from lineclear.core.claims.paths import glob_anywhere
    from lineclear.settings.values import bad_value, describe

    name = "merge.regenerate"
    expected = 'a name, or a path or glob from the root of the repository, without ".." after a wildcard'
    for place, pattern in enumerate(settings.merge_regenerate):
        try:
            glob_anywhere(pattern)
        except Refusal:
            raise bad_value(settings.origins[name], f"{name}[{place}]", describe(pattern), expected) from None
