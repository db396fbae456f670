"""Fresh secrets: the one place that draws them."""

from __future__ import annotations

import secrets

from lineclear.core.agents.tokens import ID_CHARS, hash_of

SECRET_BYTES = 32


def new_secret() -> tuple[str, str]:
    """(a secret, its hash for the log)."""
    secret = secrets.token_urlsafe(SECRET_BYTES)
    return secret, hash_of(secret)


def new_id() -> str:
    """An id for an issued token; drawn, so that it is known before anything is written."""
    return secrets.token_hex(ID_CHARS // 2)
