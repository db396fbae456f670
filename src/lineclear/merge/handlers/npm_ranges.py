"""Is a version within an npm range?"""

from __future__ import annotations

import re

from lineclear.core.version_ranges import has_version, spans_of

_VERSION = re.compile(r"v?\d{1,18}\.\d{1,18}\.\d{1,18}")


def is_within(version: object, wanted: object) -> bool:
    """Is it within the range? False if the version has a suffix, or the range is an address or a tag."""
    if not isinstance(version, str) or not isinstance(wanted, str) or not _VERSION.fullmatch(version):
        return False
    return has_version(spans_of("npm", wanted) or [], version)
