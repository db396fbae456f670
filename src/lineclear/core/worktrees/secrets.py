"""Does a file's content look like a secret? Only forms that are rarely anything else: a wrong guess keeps
somebody's new file out of a commit. On the path of a hook's snapshot, so `re` is imported only for a hit.
"""

from __future__ import annotations

# How much of a file is looked at: a key file is short, and a token stands near the beginning.
LOOKED_AT_BYTES = 64 * 1024

# A file without any of these holds no secret of the forms below.
_HINTS = (
    b"PRIVATE KEY", b"AKIA", b"ASIA", b"ghp_", b"gho_", b"ghs_", b"ghu_", b"ghr_", b"github_pat_", b"glpat-",
    b"xox", b"sk-", b"sk_live_", b"rk_live_", b"AIza", b"npm_", b"pypi-", b"lc_", b"hooks.slack.com",
)  # fmt: skip
_FORMS = rb"""(?x)
    ^-----BEGIN\ [A-Z0-9 ]*PRIVATE\ KEY(?:\ BLOCK)?-----\r?$  # at the start of a line: not in a program
    | \b(?:AKIA|ASIA)(?![A-Z0-9]*EXAMPLE)[A-Z0-9]{16}\b       # AWS; its documentation ends keys in EXAMPLE
    | \bgh[oprsu]_[A-Za-z0-9]{36,}\b | \bgithub_pat_[A-Za-z0-9_]{60,}\b | \bglpat-[A-Za-z0-9_-]{20,}
    | \bxox[abeoprs]-[A-Za-z0-9-]{24,} | hooks\.slack\.com/services/T[A-Z0-9]+/B[A-Z0-9]+/[A-Za-z0-9]{20,}
    | \bsk-(?:ant|proj)-[A-Za-z0-9_-]{32,} | \b[rs]k_live_[A-Za-z0-9]{24,}
    | \bAIza[A-Za-z0-9_-]{35}\b | \bnpm_[A-Za-z0-9]{36}\b | \bpypi-AgEI[A-Za-z0-9_-]{50,}
    | \blc_[0-9a-f]{10}_[A-Za-z0-9_-]{32,}                    # one of our tokens
"""


def looks_secret(content: bytes) -> bool:
    """Does this beginning of a file hold a private key or an access token?"""
    if not any(hint in content for hint in _HINTS):
        return False
    import re

    return re.search(_FORMS, content, re.MULTILINE) is not None
