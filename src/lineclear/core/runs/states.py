"""The states of a run: a client at work on a task."""

from __future__ import annotations

RUNNING, PAUSED, ENDED = "running", "paused", "ended"
