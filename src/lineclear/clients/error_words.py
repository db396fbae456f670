"""Recognises errors of model servers and clients that mean "try again later" or "log in first".

Use it only for text that a client marks as an error or wrote just before it failed: an agent may well talk
about a 429 in its work.
"""

from __future__ import annotations

import re

LIMITED, LOGIN, OTHER = "limited", "login", ""

# A number alone means nothing ("line 401"): it must be in the place of a status.
_STATUS = r"(?:status|error|code|http)\W{0,8}%s\b|\(%s\)"
_LOGIN_STATUS = _STATUS % ("401", "401")
_LIMIT_STATUS = _STATUS % ("(?:429|50[0234]|529)", "(?:429|50[0234]|529)")

_LOGIN_WORDS = (
    _LOGIN_STATUS,
    r"unauthori[sz]ed|unauthenticated|authentication[_ ]?(?:failed|error)|no authentication",
    r"invalid[_ ](?:api[_ ]?key|x-api-key|authentication)|API_KEY_INVALID|incorrect api key|no api key",
    r"api[_ ]key (?:is )?(?:not (?:valid|set|found)|invalid|expired|required|missing)",
    r"/login\b|please (?:run|use) `?\w+ (?:auth )?login|log ?in again|login (?:is )?required",
    r"not (?:logged|signed) in|sign in to|set an auth method",
    r"token (?:has |is )?(?:expired|revoked)|credentials? (?:not found|expired)",
    r"missing (?:bearer|credentials)|missing environment variable|must specify the \w+ environment variable",
)
_LIMIT_WORDS = (
    _LIMIT_STATUS,
    r"too many requests|rate[-_ ]?limit|usage limit|hit your (?:\w+ )?limit|quota|RESOURCE_EXHAUSTED",
    r"overloaded|at capacity|high demand|credit balance is too low",
    r"service unavailable|temporarily unavailable|bad gateway|gateway time-?out",
    r"internal ?server ?error|ECONNREFUSED|ECONNRESET|ENOTFOUND|ETIMEDOUT|EAI_AGAIN",
    r"connection (?:refused|reset|error|closed|timed out)|stream disconnected|network error|dns error",
    r"unable to connect|(?:failed|could not|cannot|can't) (?:to )?connect|error sending request|fetch failed",
)
_LOGIN = re.compile("|".join(_LOGIN_WORDS), re.I)
_LIMITED = re.compile("|".join(_LIMIT_WORDS), re.I)
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
_WAIT = re.compile(
    r"(?:retry|try again|resets?|available)[^.\n]{0,40}?\b(?:in|after)[\s:=]+"
    r"(\d{1,9}(?:\.\d{1,9})?)\s*(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)?\b",
    re.I,
)
LONGEST_WAIT_S = 14 * 86_400


def kind_of_trouble(text: str) -> str:
    """LOGIN is tested first: texts about connections often contain "401" or "please run /login"."""
    if _LOGIN.search(text):
        return LOGIN
    return LIMITED if _LIMITED.search(text) else OTHER


def kind_of_status(status: int) -> str:
    """The kind by HTTP status. 403 is OTHER: neither waiting nor, often, a login helps."""
    if status == 401:
        return LOGIN
    return LIMITED if status in (408, 409, 425, 429) or status >= 500 else OTHER


def retry_after_s(text: str) -> int:
    """How long the text asks us to wait, rounded up; -1 if it does not say."""
    found = _WAIT.search(text)
    if not found:
        return -1
    unit = (found[2] or "s").lower()
    factor = _SECONDS["ms"] if unit.startswith(("ms", "milli")) else _SECONDS[unit[0]]
    return min(int(-(-float(found[1]) * factor // 1)), LONGEST_WAIT_S)
