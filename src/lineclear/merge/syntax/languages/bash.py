"""Bash: functions."""

from lineclear.merge.syntax.table import Table

TABLE = Table(members={"program": ("function_definition",)})
