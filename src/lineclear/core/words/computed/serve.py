"""Refusals whose words are computed; their sentences are in sentences/serve.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.words.refusals import refuse

if TYPE_CHECKING:
    from lineclear.core.words.refusals import Refusal


def not_started(path: str, why: str, command: str) -> Refusal:
    """`command` starts the service by hand."""
    return refuse("service.not_started", path=path, why=why, command=command if len(command) <= 80 else "")


def answer_lost(command: str) -> Refusal:
    """`command` repeats the call with the same operation id, so it has no second effect."""
    return refuse("serve.lost", command=command, again=command if len(command) <= 200 else "")
