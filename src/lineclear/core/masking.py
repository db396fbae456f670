"""Secrets in somebody's output, made unreadable before it is shown to others. Pure.

Hidden are values that the caller knows for secrets, and what gives itself away by its form. A secret that
is neither known nor of a known form stays: output that nobody may read is for a file of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

HIDDEN = "***"
# A shorter value ("1", "test") stands in every output for something else.
LEAST_SECRET_CHARS = 6

_FORMS = (
    r"(?<=://)[^\s/@:]*:[^\s/@]+(?=@)"  # the name and the password in a URL
    r"|\b(?:gh[opsur]|github_pat|glpat|sk|pk|rk|xox[abeoprs])[-_][A-Za-z0-9_-]{16,}"
    r"|\blc_[0-9a-f]{10}_[A-Za-z0-9_-]{16,}"  # a token of ours
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"  # a JSON web token
    r"|(?<=-----)[\s\S]{0,20}PRIVATE KEY-----[\s\S]*?(?:-----END|\Z)"
    r"|(?<=[Bb]earer )[A-Za-z0-9._~+/-]{16,}=*"
)


def mask(text: str, secrets: Iterable[str] = ()) -> str:
    """The text with every secret replaced; the longest first, as one may lie inside another."""
    import re

    for secret in sorted({one for one in secrets if len(one) >= LEAST_SECRET_CHARS}, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return re.sub(_FORMS, HIDDEN, text)
