"""Issued tokens: how one is written, how its secret is checked, and when it is no longer valid.

A token reads `lc_ID_SECRET`. The id finds its row, the secret proves it. Only the secret's hash is stored: 32
random bytes cannot be guessed from it. Secrets are made elsewhere; nothing here is random.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lineclear.core.log.tables import Token

PREFIX = "lc_"
# Ten hexadecimal digits, and 32 bytes as URL-safe base64 writes them.
ID_CHARS, SECRET_CHARS = 10, 43
# None of our tokens is longer, and a longer text is not even hashed.
MOST_CHARS = 200

LIVE, EXPIRED, REVOKED = "live", "expired", "revoked"

_HEX = frozenset("0123456789abcdef")
_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")


@dataclass(frozen=True, slots=True)
class Bearer:
    """The owner of a token: its name, its kind (agent or person), and the id of the token."""

    name: str
    kind: str
    id: str


def write_token(id: str, secret: str) -> str:
    return f"{PREFIX}{id}_{secret}"


def split_token(text: str) -> tuple[str, str] | None:
    """(id, secret); None if the text does not have the form of an issued token."""
    size = len(PREFIX) + ID_CHARS
    if len(text) != size + 1 + SECRET_CHARS or not text.startswith(PREFIX) or text[size] != "_":
        return None
    id, secret = text[len(PREFIX) : size], text[size + 1 :]
    return (id, secret) if _HEX.issuperset(id) and _BASE64.issuperset(secret) else None


def is_plausible(text: str) -> bool:
    """Could this be a token? If not, it need not be looked up."""
    return 0 < len(text) <= MOST_CHARS and _BASE64.issuperset(text)


def hash_of(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()


def proves(secret: str, kept_hash: str) -> bool:
    """Is this the secret of the stored hash? The comparison takes the same time for every wrong secret."""
    return compare_digest(hash_of(secret), kept_hash)


def state_of(token: Token, wall_ns: int) -> str:
    if token.revoked_ns:
        return REVOKED
    return EXPIRED if token.expires_ns and token.expires_ns <= wall_ns else LIVE
