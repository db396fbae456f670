"""The one place that generates secrets."""

from __future__ import annotations

import secrets

from lineclear.core.agents.tokens import ID_CHARS, hash_of

SECRET_BYTES = 32


def new_secret() -> tuple[str, str]:
    """A new secret, and its hash for the log."""
    secret = secrets.token_urlsafe(SECRET_BYTES)
    return secret, hash_of(secret)


def new_id() -> str:
    """A random id for a token, known before anything is written."""
    return secrets.token_hex(ID_CHARS // 2)
