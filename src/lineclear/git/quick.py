"""Git for hooks: small questions, started without `subprocess`, whose import costs more than git itself.

Everybody else goes through run.py. The hook's own time limit ends what hangs.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# What binds git to one repository or its state; inherited from a hook it would point us elsewhere.
LOCAL_NAMES = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_PREFIX", "GIT_NAMESPACE", "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE",
    "GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE", "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_QUARANTINE_PATH", "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS", "GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS",
)  # fmt: skip
# What a pipe takes at once on every system: git need not read while we write.
MOST_INPUT_BYTES = 4_096
_KILL = 9


def quick_git(args: Sequence[str], cwd: str, given: bytes = b"", *, check: bool = True) -> bytes:
    """What git prints; an OSError when it ends with another exit code than 0, unless `check` is False. At
    most 4 KiB of input."""
    if len(given) > MOST_INPUT_BYTES:
        raise ValueError(f"more than {MOST_INPUT_BYTES} bytes of input")
    env = {name: value for name, value in os.environ.items() if name not in LOCAL_NAMES}
    env |= {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "LINECLEAR_GATE": "open"}
    ear, mouth = os.pipe()
    source, sink = os.pipe()
    try:
        os.write(sink, given)
        actions = [
            (os.POSIX_SPAWN_DUP2, source, 0),
            (os.POSIX_SPAWN_DUP2, mouth, 1),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ]
        pid = os.posix_spawnp("git", ["git", "-C", cwd, *args], env, file_actions=actions)
    except BaseException:
        os.close(ear)
        raise
    finally:
        for fd in (mouth, source, sink):
            os.close(fd)
    output, status = _output(pid, ear)
    if status and check:
        raise OSError(f"git {' '.join(args)} ended with status {status}")
    return output


def _output(pid: int, ear: int) -> tuple[bytes, int]:
    pieces = []
    try:
        while piece := os.read(ear, 1 << 16):
            pieces.append(piece)
    except BaseException:
        os.kill(pid, _KILL)
        raise
    finally:
        os.close(ear)
        _, status = os.waitpid(pid, 0)
    return b"".join(pieces), status
