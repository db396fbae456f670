"""The client of a server that runs beside us: HTTP over its Unix socket."""

from __future__ import annotations

import os
import socket
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from json import dumps, loads
from typing import TYPE_CHECKING

from lineclear import __version__
from lineclear.core.agents.identity import is_about_caller
from lineclear.core.words.computed.serve import answer_lost
from lineclear.core.words.refusals import quote
from lineclear.host.command_frames import CODE, ERR, OUT, read_frames

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from lineclear.cli.render import Output
    from lineclear.host.server_address import ServerAddress

ANSWER_WITHIN_S = 10.0
# A command may wait for the store, but no longer than this.
COMMAND_WITHIN_S = 60.0


class _Connection(HTTPConnection):
    def __init__(self, path: str, timeout_s: float | None) -> None:
        super().__init__("lineclear", timeout=timeout_s)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def ask(address: ServerAddress, method: str, path: str, body: bytes = b"") -> Any:
    """The JSON of the answer; None if there is no answer with status 200."""
    with closing(_Connection(address.socket, ANSWER_WITHIN_S)) as connection:
        try:
            connection.request(method, path, body)
            response = connection.getresponse()
            return loads(response.read()) if response.status == 200 else None
        except (OSError, HTTPException, ValueError):
            return None


def perform(address: ServerAddress, words: list[str], environ: Mapping[str, str], out: Output) -> int | None:
    """Let the server run a command line, print its output and return its exit code.

    None if the server did not begin. If the answer breaks off, the refusal says that the outcome is unknown.
    """
    if address.version != __version__:
        return None
    about_caller = {name: value for name, value in environ.items() if is_about_caller(name)}
    question = dumps({"words": words, "cwd": os.getcwd(), "environ": about_caller})
    waits = any(word.startswith("--wait") for word in words)
    with closing(_Connection(address.socket, None if waits else COMMAND_WITHIN_S)) as connection:
        try:
            connection.request("POST", "/command", question.encode())
        except OSError:
            return None
        try:
            response = connection.getresponse()
            if response.status != 200:
                return None
            # Print the answer only when it is complete.
            answer: list[str] = []
            for kind, data in read_frames(response):
                if kind == CODE:
                    out.relay("".join(answer))
                    return int(data)
                text = data.decode()
                if kind == OUT:
                    answer.append(text)
                elif kind == ERR:
                    out.relay(text, is_error=True)
        except (OSError, HTTPException, ValueError):
            pass
    raise answer_lost(" ".join(["lineclear", *map(quote, words)]))
