"""Verbs for a surface that stays: the commands as they are, with the store kept open between two calls.

Everything a call says is kept for its answer instead of being printed.
"""

from __future__ import annotations

import io
import threading
from time import monotonic

from lineclear.cli.command import Context
from lineclear.cli.main import as_bug, load, make_parser
from lineclear.cli.render import SCHEMA, Output
from lineclear.core.identity import read_environment
from lineclear.core.names import operation_id
from lineclear.core.refusals import Refusal
from lineclear.mcp.desk import Reply, Stopped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Action, ArgumentParser, Namespace
    from collections.abc import Iterator, Mapping
    from typing import Any, Self

    from lineclear.app.ports import Caller, Listener, Store
    from lineclear.cli.command import Command
    from lineclear.mcp.desk import Call
    from lineclear.process.bonds import Bond
    from lineclear.wiring.repo import Repo

# Settings may change while we stay: nothing that was opened is used for longer than this.
FRESH_S = 5.0


class Office:
    """Does verbs for many calls at once; each has an opened repository to itself while it lasts."""

    def __init__(self, environ: Mapping[str, str], *, cwd: str, given: str = "") -> None:
        self._environ, self._cwd, self._given = dict(environ), cwd, given
        self._is_marked = read_environment(environ)[2]
        self._lock = threading.Lock()
        self._free: list[tuple[float, Repo]] = []
        self._parsers: dict[str, tuple[Command, ArgumentParser]] = {}
        self._bond: tuple[str, Bond] | None = None
        self._is_closed = False

    def perform(self, verb: str, given: dict[str, Any], call: Call) -> Reply:
        out = Kept(call)
        try:
            return self._perform(verb, given, call, out)
        except Refusal as refusal:
            return out.refused(refusal)
        except Stopped:
            raise
        except Exception as error:  # noqa: BLE001 - the one boundary of this surface
            return out.refused(as_bug(error))

    def _perform(self, verb: str, given: dict[str, Any], call: Call, out: Kept) -> Reply:
        with self._lock:
            command, parser = self._prepared(verb)
            args = fill(parser, given)
        args.command = []
        context = self._context(call, out)
        try:
            command.run(context, args)
        finally:
            context.close()
        return out.answered()

    def _prepared(self, verb: str) -> tuple[Command, ArgumentParser]:
        if verb not in self._parsers:
            command = load(verb)
            self._parsers[verb] = command, make_parser(verb, command)
        return self._parsers[verb]

    def _context(self, call: Call, out: Kept) -> Sitting:
        # A client that does not show itself in the environment shows itself in its call.
        environ = self._environ if self._is_marked else {**self._environ, **call.signs}
        key = operation_id(call.key) if call.key else ""
        return Sitting(self, call, out, environ, cwd=self._cwd, given=self._given, key=key)

    def refuse(self, refusal: Refusal) -> Reply:
        return Kept().refused(refusal)

    def follow(self, call: Call) -> Iterator[list[dict[str, Any]]]:
        from lineclear.app.arrivals import follow

        context = self._context(call, Kept())
        try:
            store = context.store
            for events, _ in follow(store, store.read(lambda view: view.head)):
                yield events
        except (Refusal, Stopped):
            return  # nothing to follow here, or nobody who listens
        finally:
            context.close()

    # -- what is kept open ---------------------------------------------------------------------

    def borrow(self) -> tuple[float, Repo] | None:
        """When it was opened, and an opened repository that nobody uses now, if there is a fresh one."""
        while True:
            with self._lock:
                if not self._free:
                    return None
                opened_at, repo = self._free.pop()
            if monotonic() - opened_at < FRESH_S:
                return opened_at, repo
            repo.close()

    def give_back(self, opened_at: float, repo: Repo) -> None:
        with self._lock:
            if not self._is_closed:
                self._free.append((opened_at, repo))
                return
        repo.close()

    def bond(self, repo: Repo) -> str:
        """The bond of this process, never released: a client that starts us again has the grace for it."""
        with self._lock:
            if self._bond is None:
                self._bond = repo.hold_bond("agent")
            return self._bond[0]

    def close(self) -> None:
        with self._lock:
            self._is_closed, free, self._free = True, self._free, []
        for _, repo in free:
            repo.close()


class Sitting(Context):
    """The surroundings of one call of many."""

    __slots__ = ("_call", "_office", "_opened_at", "_stoppable")

    def __init__(
        self,
        office: Office,
        call: Call,
        out: Output,
        environ: Mapping[str, str],
        *,
        cwd: str,
        given: str,
        key: str,
    ) -> None:
        super().__init__(out, environ, cwd=cwd, given=given, key=key)
        self._office, self._call, self._opened_at = office, call, 0.0
        self._stoppable: Any = None

    def _open(self) -> Repo:
        kept = self._office.borrow()
        self._opened_at, repo = kept or (monotonic(), super()._open())
        repo.environ = self.environ
        return repo

    def _put_back(self, repo: Repo) -> None:
        self._office.give_back(self._opened_at, repo)

    @property
    def store(self) -> Store:
        if self._stoppable is None:
            self._stoppable = _Stoppable(self.repo.store, self._call)
        store: Store = self._stoppable
        return store

    @property
    def caller(self) -> Caller:
        is_known = self._caller is not None
        caller = super().caller
        # Who runs under a supervisor is bound to it already: we die with our client, not with the run.
        if not is_known and not caller.is_person and not self.environ.get("LINECLEAR_TOKEN"):
            caller.bond = self._office.bond(self.repo)
        return caller


class Kept(Output):
    """An answer that is kept: the data for programs, the lines for readers."""

    __slots__ = ("_call", "_data")

    def __init__(self, call: Call | None = None) -> None:
        super().__init__(is_json=False, environ={}, out=io.StringIO(), err=io.StringIO())
        self._call = call
        self._data: Any = None

    def data(self, data: Any, *lines: Any) -> None:
        self._data = data
        super().data(data, *lines)

    def content(self, data: Any, text: str) -> None:
        self._data = data
        super().content(data, text)

    def hint(self, text: str) -> None:
        super().hint(text)
        if self._call is not None and self._call.on_hint is not None:
            self._call.on_hint(text)

    def answered(self) -> Reply:
        return Reply({"schema": SCHEMA, "data": self._data, "warnings": self.warnings}, self._text())

    def refused(self, refusal: Refusal) -> Reply:
        self.refuse(refusal)
        content = {"schema": SCHEMA, "error": refusal.as_data(), "warnings": self.warnings}
        return Reply(content, self._text(), is_refused=True)

    def _text(self) -> str:
        streams = (self._out, self._err)
        return "".join(stream.getvalue() for stream in streams if isinstance(stream, io.StringIO)).rstrip(
            "\n"
        )


class _Stoppable:
    """A store whose listeners hear that a call was stopped."""

    __slots__ = ("_call", "_store")

    def __init__(self, store: Store, call: Call) -> None:
        self._store, self._call = store, call

    def listen(self) -> _Ear:
        return _Ear(self._store.listen(), self._call)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class _Ear:
    __slots__ = ("_bell", "_call")

    def __init__(self, bell: Listener, call: Call) -> None:
        self._bell, self._call = bell, call

    def __enter__(self) -> Self:
        self._bell.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self._bell.__exit__(*exc)

    def wait(self, timeout_s: float) -> bool:
        if self._call.is_stopped():
            raise Stopped
        is_rung = self._bell.wait(timeout_s)
        if self._call.is_stopped():
            raise Stopped
        return is_rung


# -- arguments -----------------------------------------------------------------------------------


def fill(parser: ArgumentParser, given: dict[str, Any]) -> Namespace:
    """What the parser makes of arguments that are named already: its types, choices and defaults.

    Not through words: a value may look like an option.
    """
    from argparse import Namespace

    args = Namespace()
    for action in parser._actions:  # argparse has no public way to list them
        if action.dest in given:
            setattr(args, action.dest, _value(parser, action, given[action.dest]))
        elif action.dest != "help" and not hasattr(args, action.dest):
            setattr(args, action.dest, _default(action))
    for group in parser._mutually_exclusive_groups:
        both = [action.dest for action in group._group_actions if given.get(action.dest)]
        if len(both) > 1:
            parser.error(f"give one of {' and '.join(both)}")
    return args


def _default(action: Action) -> Any:
    if action.nargs == "*" and action.default is None and not action.option_strings:
        return []
    return list(action.default) if isinstance(action.default, list) else action.default


def _value(parser: ArgumentParser, action: Action, value: Any) -> Any:
    if isinstance(value, list):
        if not value and action.nargs == "+":
            parser.error(f"{action.dest} is empty")
        return [_one(parser, action, item) for item in value]
    return _one(parser, action, value)


def _one(parser: ArgumentParser, action: Action, value: Any) -> Any:
    if isinstance(value, bool):
        return value
    text = str(value)
    if any("\ud800" <= ch <= "\udfff" for ch in text):
        parser.error(f"{action.dest} holds half of a surrogate pair")
    converted = parser._get_value(action, text)
    if action.choices is not None and converted not in action.choices:
        parser.error(f"{action.dest} is one of {', '.join(action.choices)}")
    return converted
