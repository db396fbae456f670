"""Runs `gh` and `glab`, the programs that open pull requests, without prompts."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from lineclear.host.commands import capture

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_NET_S = 300
_QUIET = {"GH_PROMPT_DISABLED": "1", "NO_PROMPT": "1", "NO_COLOR": "1"}


class ForgeCommand:
    """The `ForgeTool` of app/queue/pull_requests.py, in one directory and environment."""

    def __init__(self, cwd: str, environ: Mapping[str, str]) -> None:
        self._cwd, self._environ = cwd, environ

    def is_there(self, tool: str) -> bool:
        return shutil.which(tool, path=self._environ.get("PATH")) is not None

    def run(self, tool: str, words: Sequence[str]) -> tuple[int, str]:
        env = {**self._environ, **_QUIET}
        code, output, errors = capture([tool, *words], cwd=self._cwd, env=env, timeout_s=_NET_S)
        text = output if code == 0 else errors or output
        return code, text.decode("utf-8", "replace")
