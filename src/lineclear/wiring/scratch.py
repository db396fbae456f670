"""Throw-away repositories for the demonstrations, which may not know git/ themselves."""

from __future__ import annotations

from lineclear.git.scratch import NO_SETTINGS, ScratchRepo

__all__ = ["NO_SETTINGS", "ScratchRepo"]
