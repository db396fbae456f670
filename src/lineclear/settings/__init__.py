"""Settings: files, environment and flags, read once into one value. Decides nothing with them.

The hook's path loads this module. What checks, explains or shows a value is in modules of its own.
"""

from __future__ import annotations

from lineclear.settings.loading import build_settings, load_settings
from lineclear.settings.other_variables import OTHER_VARIABLES
from lineclear.settings.setting import PREFIX, Setting
from lineclear.settings.table import (
    LOCAL_FILE,
    SECTIONS,
    SETTINGS,
    TEAM_FILE,
    VARIABLES,
    Settings,
)

__all__ = [
    "LOCAL_FILE", "OTHER_VARIABLES", "PREFIX", "SECTIONS", "SETTINGS", "TEAM_FILE", "VARIABLES", "Setting",
    "Settings", "build_settings", "load_settings",
]  # fmt: skip
