"""Finds the directories in which a shell command moves a branch with git, as far as its text shows it.

For the hook before a command: some of git's verbs destroy files before any of git's own hooks runs, and git's
hooks can be switched off. Variables and scripts are not followed.
"""

from __future__ import annotations

import shlex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOVES = frozenset(("am", "cherry-pick", "commit", "merge", "pull", "rebase", "reset", "revert"))
# Options of git itself that have their value in the next word.
WITH_VALUE = ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env")
_ENDS = frozenset(";&|()\n")
# Without one of these, git runs where the command starts.
_ELSEWHERE = ("-C", "cd ", "--work-tree")


def moves_elsewhere(command: str, cwd: str) -> list[tuple[str, str]]:
    """(directory, verb) of each git command that moves a branch in another directory than `cwd`."""
    if "git" not in command or not any(word in command for word in _ELSEWHERE):
        return []
    found = []
    place = cwd
    for words in _commands(command):
        if words[0] in ("cd", "pushd") and len(words) > 1:
            place = _joined(place, words[1])
        elif words[0].rpartition("/")[2] == "git":
            directory, verb = _read(words[1:], place)
            if verb in MOVES and directory != cwd:
                found.append((directory, verb))
    return found


def verb_of(words: Sequence[str]) -> str:
    """The verb of a git command: `merge` of `git -C DIRECTORY merge BRANCH`."""
    return _read(words[1:], "")[1]


def _read(words: Sequence[str], place: str) -> tuple[str, str]:
    """(the directory that git works in, its verb), from the words after `git`."""
    rest = iter(words)
    for word in rest:
        if word in WITH_VALUE:
            value = next(rest, "")
            place = _joined(place, value) if word in ("-C", "--work-tree") else place
        elif word.startswith("--work-tree="):
            place = _joined(place, word.partition("=")[2])
        elif not word.startswith("-"):
            return place, word
    return place, ""


def _commands(text: str) -> Iterator[list[str]]:
    """The simple commands of a line of shell, without variables set before them; none if quotes are open."""
    lexer = shlex.shlex(text.replace("\n", " ; "), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        tokens = list(lexer)
    except ValueError:
        return
    words: list[str] = []
    for token in [*tokens, ";"]:
        if _ENDS.issuperset(token):
            if words:
                yield words
            words = []
        elif words or "=" not in token:
            words.append(token)


def _joined(place: str, directory: str) -> str:
    return directory if directory.startswith("/") else f"{place}/{directory}"
