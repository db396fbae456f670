"""Reads the tables of environment variables: [worktrees.env] and [workers.NAME.env]."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.words.refusals import shorten
from lineclear.settings.setting import PREFIX
from lineclear.settings.table import TEAM_FILE
from lineclear.settings.unknown import warn
from lineclear.settings.values import bad_value, describe, is_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lineclear.settings.table import Settings

MAX_VARIABLES, MAX_NAME_CHARS, MAX_VALUE_CHARS = 200, 100, 4_000
NAME_RULE = f"a name of A-Z a-z 0-9 _, no digit first, not {PREFIX}* and not one that moves git elsewhere"
VALUE_RULE = f"a text of at most {MAX_VALUE_CHARS} printable characters"

# Each of these would make git in a worktree use another repository, index or tree.
_GITS_OWN = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE",
)  # fmt: skip
_SECRET_WORDS = ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "PRIVATE_KEY", "CREDENTIAL")


def read_variables(settings: Settings, origin: str, name: str, given: object) -> dict[str, str]:
    """`name` is the name of the table, for messages."""
    if not isinstance(given, dict):
        raise bad_value(origin, name, describe(given), f"a table, [{name}]")
    if len(given) > MAX_VARIABLES:
        raise bad_value(origin, name, f"{len(given)} variables", f"at most {MAX_VARIABLES} variables")
    for variable, value in given.items():
        if not _is_name(variable):
            raise bad_value(origin, f"{name}.{variable}", "its name", NAME_RULE)
        if not is_text(value, MAX_VALUE_CHARS):
            raise bad_value(origin, f"{name}.{variable}", "not shown, it may be secret", VALUE_RULE)
        if origin == TEAM_FILE and is_secret(variable):
            warn(
                settings,
                f"{origin}: {shorten(f'{name}.{variable}', 90)} may be a secret; "
                "move it to .git/lineclear/local.toml.",
            )
    return dict(given)


def _is_name(text: str) -> bool:
    plain = text.replace("_", "a")
    is_written_well = plain.isascii() and plain.isalnum() and not plain[0].isdigit()
    return (
        is_written_well
        and len(text) <= MAX_NAME_CHARS
        and not text.startswith(PREFIX)
        and text not in _GITS_OWN
    )


def secret_values(variables: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """The values that no text may show, by the names of their variables."""
    return tuple(value for name, value in variables if value and is_secret(name))


def is_secret(variable: str) -> bool:
    """Whether the name of a variable suggests a secret value, which is then never shown."""
    return any(word in variable.upper() for word in _SECRET_WORDS)


def show_variables(variables: dict[str, str]) -> dict[str, str]:
    return {name: "***" if is_secret(name) else value for name, value in variables.items()}


def take_worktree_variables(settings: Settings, origin: str, given: object, _folds_case: bool) -> None:
    for variable, value in read_variables(settings, origin, "worktrees.env", given).items():
        settings.worktrees_env[variable] = value
        settings.origins[f"worktrees.env.{variable}"] = origin
