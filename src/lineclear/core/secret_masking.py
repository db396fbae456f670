"""Hides secrets in output before others see it. Pure.

Hides values that the caller knows to be secret and texts that have the form of a known kind of secret. Any
other secret stays visible, so output that nobody may read belongs in a separate file.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

HIDDEN = "***"
# A shorter value ("1", "test") occurs in every output with another meaning.
LEAST_SECRET_CHARS = 6

_FORMS = re.compile(
    r"(?<=://)[^\s/@:]*:[^\s/@]+(?=@)"  # the user name and password in a URL
    r"|\b(?:gh[opsur]|github_pat|glpat|sk|pk|rk|xox[abeoprs])[-_][A-Za-z0-9_-]{16,}"
    r"|\blc_[0-9a-f]{10}_[A-Za-z0-9_-]{16,}"  # one of our tokens
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"  # a JSON web token
    r"|(?<=-----)[\s\S]{0,20}PRIVATE KEY-----[\s\S]*?(?:-----END|\Z)"
    r"|(?<=[Bb]earer )[A-Za-z0-9._~+/-]{16,}=*"
)


def mask(text: str, secrets: Iterable[str] = ()) -> str:
    """The text with every secret replaced."""
    # The longest first: one secret may contain another.
    for secret in sorted({one for one in secrets if len(one) >= LEAST_SECRET_CHARS}, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return _FORMS.sub(HIDDEN, text)
