"""Words by which model servers and clients say "not now" and "who are you?": told apart from other errors.

Only for text that a client marks as an error or that it wrote before it failed: an agent may talk about a
429 all day.
"""

from __future__ import annotations

import re

LIMITED, LOGIN, OTHER = "limited", "login", ""

# A number alone says nothing ("line 401"): it has to stand where a status stands.
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
    """A login is asked for first: "401" and "please run /login" often stand in a text about connections."""
    if _LOGIN.search(text):
        return LOGIN
    return LIMITED if _LIMITED.search(text) else OTHER


def kind_of_status(status: int) -> str:
    """By the status of HTTP. 403 is neither: waiting does not help, and often a login does not either."""
    if status == 401:
        return LOGIN
    return LIMITED if status in (408, 409, 425, 429) or status >= 500 else OTHER


def retry_after_s(text: str) -> int:
    """How long the text asks us to wait, rounded up; -1 when it does not say."""
    found = _WAIT.search(text)
    if not found:
        return -1
    unit = (found[2] or "s").lower()
    factor = _SECONDS["ms"] if unit.startswith(("ms", "milli")) else _SECONDS[unit[0]]
    return min(int(-(-float(found[1]) * factor // 1)), LONGEST_WAIT_S)
