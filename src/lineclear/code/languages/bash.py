"""Bash: functions."""

from lineclear.code.languages.table import Table

TABLE = Table(members={"program": ("function_definition",)})
