"""Which files the radar has found trouble in: tasks that would touch them wait behind others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.radar.findings import open_findings
from lineclear.core.claims.resources import file_resources
from lineclear.core.log.tables import split_names

if TYPE_CHECKING:
    from lineclear.app.ports import View


def troubled_files(view: View) -> list[str]:
    """The files of the open findings that would break at landing, as resources in stored form."""
    paths = {path for row in open_findings(view) if row.interrupts for path in split_names(row.files)}
    return [found.text for found in file_resources(sorted(paths), fold_case=False, nfc=True)]
