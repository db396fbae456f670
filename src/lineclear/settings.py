"""All settings: one table, and the loader that turns files, environment and flags into one frozen value.

Everything about a setting derives from SETTINGS: reading, `config show`, the example file, the reference.
Decides nothing with them, and looks at no file but its own two. Cheap when there is nothing to read.
"""

from __future__ import annotations

import os
import stat

from lineclear.core import refusals_settings as refusals
from lineclear.core.durations import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, parse_duration
from lineclear.core.names import agent_name
from lineclear.core.refusals import Refusal, shorten
from lineclear.core.resources import parse_resource
from lineclear.core.strategies import SINGLE_WRITER, STRATEGIES, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

TEAM_FILE, LOCAL_FILE = "lineclear.toml", "local.toml"
PREFIX = "LINECLEAR_"
# Variables of ours that are no settings: who acts, and what a command is told by those around it.
OTHER_VARIABLES = ("AGENT", "TOKEN", "FENCE", "RESOURCES", "KEY", "PERSON", "DEBUG")

MAX_FILE_BYTES = 256 * 1024
MAX_STRATEGIES, MAX_SCHEMES, MAX_WARNINGS = 1_000, 100, 20
# The parser's work grows with the square of a dotted key's parts: one long key could keep it for hours.
MAX_DOTS_IN_LINE = 100

TEXT, DURATION, COUNT, SWITCH, FOLD, SCHEMES = "text", "duration", "count", "switch", "fold", "schemes"

_LARGEST_INT = 10**15
_MAX_SCHEME_CHARS = 32
_SCHEME = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
_WORDS: dict[str, object] = {"auto": "auto"}
_WORDS |= dict.fromkeys(("true", "yes", "on", "1"), True)
_WORDS |= dict.fromkeys(("false", "no", "off", "0"), False)


# -- the table --------------------------------------------------------------------------------


class Setting:
    """One key of a settings file. `least` and `most` bound a number, `most` also a text's length."""

    __slots__ = ("about", "attribute", "default", "is_secret", "kind", "least", "most", "name", "variable")

    def __init__(
        self,
        name: str,
        kind: str,
        default: object,
        about: str,
        *,
        least: int = 0,
        most: int = 0,
        is_secret: bool = False,
    ) -> None:
        self.name, self.kind, self.default, self.about = name, kind, default, about
        self.least, self.most, self.is_secret = least, most, is_secret
        plain = name.replace(".", "_")
        self.attribute = plain + "_ms" if kind == DURATION else plain
        self.variable = PREFIX + plain.upper()


_ALL = (
    Setting("repo.id", TEXT, "", "keeps repositories apart that share one database", most=200),
    Setting(
        "store.url",
        TEXT,
        "",
        "postgresql://... for a store shared by a team; empty: a file inside .git",
        most=2_000,
        is_secret=True,
    ),
    Setting(
        "claims.ttl",
        DURATION,
        30 * MINUTE_MS,
        "how long a claim lasts unless it is renewed",
        least=SECOND_MS,
        most=24 * HOUR_MS,
    ),
    Setting(
        "tasks.lease",
        DURATION,
        30 * MINUTE_MS,
        "how long a taken task stays with an agent that says nothing",
        least=10 * SECOND_MS,
        most=24 * HOUR_MS,
    ),
    Setting("tasks.attempts", COUNT, 3, "how often a task is tried before it has failed", least=1, most=100),
    Setting(
        "operations.keep",
        DURATION,
        24 * HOUR_MS,
        "how long a command can be repeated by its operation id and still count once",
        least=MINUTE_MS,
        most=365 * DAY_MS,
    ),
    Setting(
        "agents.grace",
        DURATION,
        10 * SECOND_MS,
        "how long an agent's process may be gone before the agent is freed",
        most=10 * MINUTE_MS,
    ),
    Setting(
        "agents.silence",
        DURATION,
        10 * MINUTE_MS,
        "after which a new session may inherit the place of a silent one",
        least=10 * SECOND_MS,
        most=24 * HOUR_MS,
    ),
    Setting("agents.person", TEXT, "", "your own name in the log; empty: found by itself", most=200),
    Setting("paths.fold_case", FOLD, "auto", "are A.py and a.py one file? auto: as git has it here"),
    Setting("paths.nfc", SWITCH, True, "take two Unicode spellings of one name for the same name"),
    Setting("resources.schemes", SCHEMES, (), "kinds of resource of your own, such as queue:NAME"),
)
SETTINGS = {setting.name: setting for setting in _ALL}
VARIABLES = {setting.variable: setting for setting in _ALL}
SECTIONS = tuple(dict.fromkeys(name.partition(".")[0] for name in SETTINGS))

STRATEGY = "strategy"
STRATEGY_KEYS = {
    "match": "a resource or a glob, from the root of the repository; a directory ends with a slash",
    "strategy": "one of " + ", ".join(STRATEGIES),
    "owner": "the agent that writes it; only for " + SINGLE_WRITER,
}
_STRATEGY_NAMES = tuple(f"{STRATEGY}.{key}" for key in STRATEGY_KEYS)


class Settings:
    """Every setting as an attribute, never changed after loading; `origins` says where each came from."""

    __slots__ = (
        "agents_grace_ms",
        "agents_person",
        "agents_silence_ms",
        "claims_ttl_ms",
        "operations_keep_ms",
        "origins",
        "paths_fold_case",
        "paths_nfc",
        "repo_id",
        "resources_schemes",
        "rules",
        "store_url",
        "tasks_attempts",
        "tasks_lease_ms",
        "warnings",
    )

    repo_id: str
    store_url: str
    claims_ttl_ms: int
    tasks_lease_ms: int
    tasks_attempts: int
    operations_keep_ms: int
    agents_grace_ms: int
    agents_silence_ms: int
    agents_person: str
    paths_fold_case: str
    paths_nfc: bool
    resources_schemes: tuple[str, ...]

    def __init__(self) -> None:
        for setting in _ALL:
            setattr(self, setting.attribute, setting.default)
        self.origins = dict.fromkeys(SETTINGS, "default")
        self.rules: list[Rule] = []
        self.warnings: list[str] = []


# -- loading ----------------------------------------------------------------------------------


def load_settings(
    *,
    root: str,
    local_dir: str,
    environ: Mapping[str, str],
    flags: Mapping[str, str] | None = None,
    folds_case: bool = False,
) -> Settings:
    """Defaults, the team's file, this clone's file, the environment, flags: the later one wins.

    `folds_case` is what `paths.fold_case = "auto"` means in this repository.
    """
    return build_settings(
        team=_read_bytes(TEAM_FILE, f"{root}/{TEAM_FILE}"),
        local=_read_bytes(LOCAL_FILE, f"{local_dir}/{LOCAL_FILE}"),
        environ=environ,
        flags=flags,
        folds_case=folds_case,
    )


def build_settings(
    *,
    team: bytes | None = None,
    local: bytes | None = None,
    environ: Mapping[str, str],
    flags: Mapping[str, str] | None = None,
    folds_case: bool = False,
) -> Settings:
    """As `load_settings`, from the content of the files; None is a file that is not there."""
    settings = Settings()
    strategies: list[tuple[str, object]] = []
    for origin, data in ((TEAM_FILE, team), (LOCAL_FILE, local)):
        if data:
            table = _parse(origin, data)
            strategies.append((origin, table.pop(STRATEGY, [])))
            _take_table(settings, origin, table)
    _take_environment(settings, environ)
    if flags:
        _take_flags(settings, flags)
    # Last, since a match is read by the settings of paths and resources, whoever has set those.
    for origin, given in strategies:
        settings.rules += _read_rules(settings, origin, given, folds_case)
    return settings


def _read_bytes(origin: str, path: str) -> bytes | None:
    try:
        # Without waiting: a pipe with nobody at its other end would stop every command.
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise refusals.settings_unreadable(origin, path, os.strerror(error.errno or 0)) from None
    try:
        return _read_open(origin, path, fd)
    except OSError as error:
        raise refusals.settings_unreadable(origin, path, os.strerror(error.errno or 0)) from None
    finally:
        os.close(fd)


def _read_open(origin: str, path: str, fd: int) -> bytes:
    """Up to one byte more than may be: enough to see that it is too large."""
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        raise refusals.settings_unreadable(origin, path, "it is not a plain file")
    with open(fd, "rb", closefd=False) as file:
        return file.read(MAX_FILE_BYTES + 1)


def _parse(origin: str, data: bytes) -> dict[str, Any]:
    if len(data) > MAX_FILE_BYTES:
        raise refusals.settings_too_large(origin, MAX_FILE_BYTES)
    text = _decode(origin, data)
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > MAX_DOTS_IN_LINE:
            raise refusals.broken_settings(origin, number, f"it has more than {MAX_DOTS_IN_LINE} dots")
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
    raise refusals.broken_settings(origin, line_number, why)


def _decode(origin: str, data: bytes) -> str:
    try:
        return data.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
    raise refusals.broken_settings(origin, line, "its bytes are not UTF-8")


def _explain(message: str, text: str) -> tuple[str, int]:
    """The parser's words and the line, which before Python 3.14 is only in the words."""
    why, _, place = message.rpartition(" (at ")
    line = place.removeprefix("line ").partition(",")[0]
    return why, int(line) if line.isdecimal() else text.count("\n") + 1


# -- the sources ------------------------------------------------------------------------------


def _take_table(settings: Settings, origin: str, table: dict[str, Any]) -> None:
    for section, content in table.items():
        if isinstance(content, dict) and section in SECTIONS:
            for key, given in content.items():
                _take_key(settings, origin, f"{section}.{key}", given)
        elif section in SECTIONS:
            raise refusals.bad_setting(origin, section, _describe(content), f"a section, [{section}]")
        elif isinstance(content, dict):
            _warn(settings, origin, "section", section, (*SECTIONS, STRATEGY))
        else:
            _take_key(settings, origin, section, content)


def _take_key(settings: Settings, origin: str, name: str, given: object) -> None:
    setting = SETTINGS.get(name)
    if setting is None:
        _warn(settings, origin, "key", name, tuple(SETTINGS))
        return
    _set(settings, setting, given, origin)
    if setting.is_secret and origin == TEAM_FILE and _has_password(settings.store_url):
        settings.warnings.append(f"{origin}: {name} holds a password; move it to .git/lineclear/local.toml.")


def _take_environment(settings: Settings, environ: Mapping[str, str]) -> None:
    """An empty variable counts as not set."""
    for variable in environ:
        if not variable.startswith(PREFIX) or variable[len(PREFIX) :] in OTHER_VARIABLES:
            continue
        setting = VARIABLES.get(variable)
        if setting is None:
            _warn(settings, "environment", "variable", variable, tuple(VARIABLES))
        elif environ[variable]:
            _set(settings, setting, _from_text(setting.kind, environ[variable]), variable)


def _take_flags(settings: Settings, flags: Mapping[str, str]) -> None:
    for name, text in flags.items():
        setting = SETTINGS.get(name)
        if setting is None:
            raise refusals.unknown_setting(name, _hint(name, tuple(SETTINGS)))
        _set(settings, setting, _from_text(setting.kind, text), "flag")


def _set(settings: Settings, setting: Setting, given: object, origin: str) -> None:
    value = _CHECKS[setting.kind](setting, given)
    if value is None:
        shown = "not shown, it may be secret" if setting.is_secret else _describe(given)
        raise refusals.bad_setting(origin, setting.name, shown, expected(setting))
    setattr(settings, setting.attribute, value)
    settings.origins[setting.name] = origin


def _warn(settings: Settings, origin: str, kind: str, name: str, known: tuple[str, ...]) -> None:
    if len(settings.warnings) < MAX_WARNINGS:
        words = f'{origin}: the {kind} "{shorten(name, 60)}" is unknown and ignored'
        settings.warnings.append(words + _hint(name, known))
    elif len(settings.warnings) == MAX_WARNINGS:
        settings.warnings.append("There are more warnings, not shown.")


def _hint(name: str, known: tuple[str, ...]) -> str:
    """The key spelled most alike: in the same section first, then in any."""
    from difflib import get_close_matches

    section, _, key = name.rpartition(".")
    for group in ([other for other in known if other.startswith(section + ".")], known):
        by_key = {other.rpartition(".")[2]: other for other in group}
        for near in get_close_matches(key[:100], by_key, 1):
            return f'; did you mean "{by_key[near]}"?'
    return "."


# -- values -----------------------------------------------------------------------------------
# A check gives the value to use, or None when what is given is not usable.


def _check_text(setting: Setting, given: object) -> str | None:
    if not isinstance(given, str) or len(given) > setting.most:
        return None
    return given if given.isprintable() else None


def _check_duration(setting: Setting, given: object) -> int | None:
    if isinstance(given, int) and 0 <= given < _LARGEST_INT:
        given = str(given)
    if not isinstance(given, str):
        return None
    try:
        return parse_duration(given, least_ms=setting.least, most_ms=setting.most)
    except Refusal:
        return None


def _check_count(setting: Setting, given: object) -> int | None:
    if not isinstance(given, int) or isinstance(given, bool):
        return None
    return given if setting.least <= given <= setting.most else None


def _check_switch(_: Setting, given: object) -> bool | None:
    return given if isinstance(given, bool) else None


def _check_fold(_: Setting, given: object) -> str | None:
    if isinstance(given, bool):
        return "true" if given else "false"
    return "auto" if given == "auto" else None


def _check_schemes(_: Setting, given: object) -> tuple[str, ...] | None:
    if not isinstance(given, list) or len(given) > MAX_SCHEMES:
        return None
    names = tuple(name for name in given if isinstance(name, str) and _is_scheme(name))
    return names if len(names) == len(given) else None


def _is_scheme(text: str) -> bool:
    return 0 < len(text) <= _MAX_SCHEME_CHARS and text[0].islower() and _SCHEME.issuperset(text)


_CHECKS: dict[str, Callable[[Setting, object], object]] = {
    TEXT: _check_text,
    DURATION: _check_duration,
    COUNT: _check_count,
    SWITCH: _check_switch,
    FOLD: _check_fold,
    SCHEMES: _check_schemes,
}


def _from_text(kind: str, text: str) -> object:
    """What a variable or a flag says, as a file would say it; unchanged where it makes no sense."""
    word = text.strip()
    if kind in (SWITCH, FOLD):
        return _WORDS.get(word.lower(), text)
    if kind == COUNT:
        return int(word) if word.isascii() and word.isdecimal() and len(word) <= 15 else text
    if kind == SCHEMES:
        return [name.strip() for name in text.split(",") if name.strip()]
    return text


def expected(setting: Setting) -> str:
    """What may be written for it, for a refusal and for the reference."""
    if setting.kind == TEXT:
        return f"a text of at most {setting.most} printable characters"
    if setting.kind == DURATION:
        least, most = write_duration(setting.least), write_duration(setting.most)
        return f'a duration from {least} to {most}, like "90s" or "1h30m"'
    if setting.kind == COUNT:
        return f"a whole number from {setting.least} to {setting.most}"
    if setting.kind == SCHEMES:
        return f'a list of at most {MAX_SCHEMES} names of a-z, 0-9 and "-", a letter first'
    return "true or false" if setting.kind == SWITCH else '"auto", true or false'


def _describe(given: object) -> str:
    """What is there, in few words: a value from a file can be of any size and depth."""
    if isinstance(given, str):
        return f'"{shorten(given, 50)}"'
    if isinstance(given, bool):
        return "true" if given else "false"
    if isinstance(given, int):
        return str(given) if abs(given) < _LARGEST_INT else "a very large number"
    kinds = {float: "a number with a fraction", list: "a list", dict: "a table"}
    return kinds.get(type(given), "a date or time")


# -- strategies -------------------------------------------------------------------------------


def _read_rules(settings: Settings, origin: str, given: object, folds_case: bool) -> list[Rule]:
    if not isinstance(given, list):
        raise refusals.bad_setting(origin, STRATEGY, _describe(given), "entries that begin with [[strategy]]")
    if len(settings.rules) + len(given) > MAX_STRATEGIES:
        raise refusals.too_many_strategies(origin, MAX_STRATEGIES)
    folds = folds_case if settings.paths_fold_case == "auto" else settings.paths_fold_case == "true"
    return [_read_rule(settings, origin, number, entry, folds) for number, entry in enumerate(given, 1)]


def _read_rule(settings: Settings, origin: str, number: int, entry: object, folds: bool) -> Rule:
    if not isinstance(entry, dict):
        raise refusals.bad_strategy(origin, number, "form is wrong: it begins with [[strategy]]")
    for key in entry:
        if key not in STRATEGY_KEYS:
            _warn(settings, origin, "key", f"{STRATEGY}.{key}", _STRATEGY_NAMES)
    match, strategy, owner = entry.get("match"), entry.get("strategy"), entry.get("owner", "")
    why = _fault_in_rule(match, strategy, owner)
    if why:
        raise refusals.bad_strategy(origin, number, why)
    try:
        nfc, schemes = settings.paths_nfc, settings.resources_schemes
        resource = parse_resource(str(match), fold_case=folds, nfc=nfc, schemes=schemes)
        name = agent_name(owner) if owner else ""
    except Refusal as refusal:
        raise refusals.bad_strategy(origin, number, _cause(refusal)) from None
    return Rule(resource, str(strategy), name, f"{origin}, strategy {number}")


def _fault_in_rule(match: object, strategy: object, owner: object) -> str:
    if not isinstance(match, str):
        return "match is missing: a path, a glob or another resource, as text"
    if strategy not in STRATEGIES:
        return "strategy is none of " + ", ".join(STRATEGIES)
    if not isinstance(owner, str):
        return "owner is not an agent's name"
    return "owner makes no sense: only single-writer has one" if owner and strategy != SINGLE_WRITER else ""


def _cause(refusal: Refusal) -> str:
    field = "owner" if refusal.code == "input.bad" else "match"
    return f"{field} is wrong: {refusal.what.removesuffix('.')}"


# -- showing ----------------------------------------------------------------------------------


def show(settings: Settings) -> list[dict[str, object]]:
    """Every setting, then every strategy in its order, for `config show`; no secrets in it."""
    shown = [
        {
            "name": setting.name,
            "value": _show_value(setting, getattr(settings, setting.attribute)),
            "origin": settings.origins[setting.name],
            "about": setting.about,
        }
        for setting in _ALL
    ]
    return shown + [_show_rule(rule) for rule in settings.rules]


def _show_value(setting: Setting, value: Any) -> object:
    if setting.kind == DURATION:
        return write_duration(value)
    if setting.kind == SCHEMES:
        return list(value)
    return redact(value) if setting.is_secret else value


def _show_rule(rule: Rule) -> dict[str, object]:
    return {
        "name": f"{STRATEGY} {rule.resource.text}",
        "value": f"{rule.strategy}, owner {rule.owner}" if rule.owner else rule.strategy,
        "origin": rule.origin,
        "about": "how it is shared; the last strategy that matches counts",
    }


def write_duration(duration_ms: int) -> str:
    """As a settings file has it: exact, and read back as the same. Days count from two on: 24h is no "1d"."""
    written, left_ms = "", duration_ms
    for unit, unit_ms in (("d", DAY_MS), ("h", HOUR_MS), ("m", MINUTE_MS), ("s", SECOND_MS), ("ms", 1)):
        if left_ms >= unit_ms and not (unit == "d" and left_ms < 2 * DAY_MS):
            count, left_ms = divmod(left_ms, unit_ms)
            written += f"{count}{unit}"
    return written or "0s"


def redact(url: str) -> str:
    """The URL without its password. Where it is badly written too much is hidden rather than too little."""
    scheme, mark, rest = url.partition("://")
    if not mark:
        return "***" if "password" in url.lower() or "@" in url else url
    # The last "@" of all, since people forget to write "@", "/" or "?" in a password as %40, %2F, %3F.
    credentials, at, place = rest.rpartition("@")
    user, colon, _ = credentials.partition(":")
    place, question, query = place.partition("?")
    parts = [_redact_part(part) for part in query.split("&")]
    return f"{scheme}://{user}{colon and ':***'}{at}{place}{question}{'&'.join(parts)}"


def _redact_part(part: str) -> str:
    key, equals, _ = part.partition("=")
    return f"{key}=***" if equals and key.lower().endswith("password") else part


def _has_password(url: str) -> bool:
    return redact(url) != url
