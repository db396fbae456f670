"""Run commands inside a server: MCP and `serve` keep the store open between calls.

What a command would print is collected for the answer instead.
"""

from __future__ import annotations

import io
import os
import threading
from argparse import Namespace
from json import dumps, loads
from time import monotonic
from typing import TYPE_CHECKING

from lineclear.app.agents.tokens import verify
from lineclear.app.waiting_for_news import follow
from lineclear.app.worktrees.rows import worktrees_of
from lineclear.cli.command import Context, Surroundings
from lineclear.cli.index import is_served
from lineclear.cli.main import as_bug, ask_server, load, make_parser, run
from lineclear.cli.render import SCHEMA, Output
from lineclear.core.agents.identity import read_environment
from lineclear.core.agents.names import agent_name, operation_id
from lineclear.core.store_outages import is_outage
from lineclear.core.words.refusals import Refusal, refuse
from lineclear.mcp.calls import Reply, Stopped, VerbCall
from lineclear.wiring.hooks import take_tool_call
from lineclear.wiring.repo import state_directory_at, stay_warm

if TYPE_CHECKING:
    from argparse import Action, ArgumentParser, Namespace
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any, Self, TextIO, TypeVar

    from lineclear.app.ports import Caller, Listener, Store, Tx, View
    from lineclear.cli.command import Command
    from lineclear.core.log.queries import Question
    from lineclear.host.bonds import HeldBond
    from lineclear.mcp.calls import Requester
    from lineclear.wiring.repo import Repo

    T = TypeVar("T")

# Settings may change while the server runs: no opened repository is used for longer than this.
FRESH_S = 5.0
# Repositories kept open while no call uses them; each has its own cache.
MOST_FREE = 16
TREE_FRESH_S, MOST_TREES = 1.0, 1_000
# Variables that change how a repository is opened, and those that only say who asks.
_SETTING = ("LINECLEAR_", "GIT_")
_ABOUT_CALLER = ("LINECLEAR_AGENT", "LINECLEAR_TOKEN", "LINECLEAR_TASK", "LINECLEAR_KEY")


class CommandRunner:
    """Runs many calls at once; each has an opened repository to itself while it lasts."""

    def __init__(
        self, environ: Mapping[str, str], *, cwd: str, given: str = "", is_bond: bool = True
    ) -> None:
        """`is_bond`: the callers live and die with this process."""
        self._environ, self._cwd, self._given, self._is_bond = dict(environ), cwd, given, is_bond
        self._lock = threading.Lock()
        self._free: list[tuple[float, str, Repo]] = []
        self._forms: dict[str, tuple[Command, Form]] = {}
        self._bond: tuple[str, HeldBond] | None = None
        self._is_closed = False
        stay_warm()
        # The state directory of the repository that we serve; "" until a call needs it.
        self._home = ""
        # agent -> until when the entry is valid, and the path of its worktree
        self._trees: dict[str, tuple[float, str]] = {}

    def perform(self, verb: str, given: dict[str, Any], call: VerbCall) -> Reply:
        out = CapturedOutput(call)
        try:
            return self._perform(verb, given, call, out)
        except Refusal as refusal:
            return out.refused(refusal)
        except Stopped:
            raise
        except Exception as error:  # noqa: BLE001 - the one boundary of this surface
            return out.refused(as_bug(error))

    def _perform(self, verb: str, given: dict[str, Any], call: VerbCall, out: CapturedOutput) -> Reply:
        with self._lock:
            command, form = self._prepared(verb)
        args = form.fill(given)
        args.command = []
        context = self._context(call, out)
        try:
            if call.requester is None:  # started by a client, perhaps in a sandbox
                words = ["--json", "-C", context.cwd, *self._who(call), *form.words(given)]
                needs_key = command.is_write and not call.key
                told = ask_server(verb, words, out, context.environ, context.cwd, needs_key=needs_key)
                if told is not None:
                    return out.relayed(told)
            code = context.perform(verb, command, args)
        finally:
            context.close()
        return out.answered(is_short=code != 0)

    def _who(self, call: VerbCall) -> list[str]:
        named = [f"--as={self._given}"] if self._given else []
        return [*named, f"--key={call.key}"] if call.key else named

    def command(self, words: list[str], call: VerbCall, out: TextIO, err: TextIO) -> int:
        requester = call.requester
        if requester is None or not is_served(words) or not os.path.isdir(requester.cwd):
            raise Stopped

        def make(
            output: Output, environ: Mapping[str, str], *, cwd: str, given: str, key: str
        ) -> CallContext:
            if not self.is_ours(cwd, environ):
                raise Stopped
            return CallContext(self, call, output, environ, cwd=cwd, given=given, key=key)

        around = Surroundings(
            cwd=requester.cwd, out=out, err=err, make=make, passes=(Stopped,), asks_server=False
        )
        return run(words, requester.environ, around)

    def _prepared(self, verb: str) -> tuple[Command, Form]:
        if verb not in self._forms:
            command = load(verb)
            self._forms[verb] = command, Form(make_parser(verb, command))
        return self._forms[verb]

    def _context(self, call: VerbCall, out: CapturedOutput) -> CallContext:
        requester = call.requester
        environ = self._environ if requester is None else requester.environ
        # A client that sets no variable of its own is known by the signs in its call.
        if not read_environment(environ)[2] and (requester is None or not requester.is_person):
            environ = {**environ, **call.signs}
        where = self._where(requester)
        # A sub-agent runs in its parent's session, and only its hook knows it.
        agent = take_tool_call(where, environ, call.tool_call) if call.tool_call else ""
        if agent:
            environ = {**environ, "LINECLEAR_AGENT": agent}
        key = operation_id(call.key) if call.key else ""
        return CallContext(self, call, out, environ, cwd=where, given=self._given, key=key)

    def _where(self, requester: Requester | None) -> str:
        """The directory that the requester names, else its agent's worktree if that is ours, else our own."""
        if requester is None or not (requester.cwd or requester.agent):
            return self._cwd
        if requester.cwd:
            return requester.cwd
        name, now = agent_name(requester.agent), monotonic()
        until, place = self._trees.get(name, (0.0, ""))
        if now < until:
            return place
        rows = self._look(lambda view: worktrees_of(view, name))
        own = (row.path for row in reversed(rows) if self.is_ours(row.path, self._environ))
        place = next(own, self._cwd)
        if len(self._trees) >= MOST_TREES:
            self._trees.clear()
        self._trees[name] = now + TREE_FRESH_S, place
        return place

    def _look(self, read: Callable[[View], T]) -> T:
        """Read from the store on behalf of nobody in particular."""
        context = CallContext(
            self, VerbCall(), CapturedOutput(), self._environ, cwd=self._cwd, given="", key=""
        )
        context.is_mirrored = False
        try:
            return context.store.read(read)
        finally:
            context.close()

    def is_ours(self, cwd: str, environ: Mapping[str, str]) -> bool:
        """Is this directory in a worktree of the repository that we serve?"""
        if not self._home:
            self._home = state_directory_at(self._cwd, self._environ)
        return cwd.startswith("/") and state_directory_at(cwd, environ) == self._home

    def admit(self, token: str) -> tuple[str, str, str]:
        """The token's id, and the name and kind of its owner; refuses an invalid one."""
        bearer = self._look(lambda view: verify(view, token))
        return bearer.id, bearer.name, bearer.kind

    def refuse(self, refusal: Refusal) -> Reply:
        return CapturedOutput().refused(refusal)

    def follow(self, call: VerbCall) -> Iterator[list[dict[str, Any]]]:
        context = self._context(call, CapturedOutput())
        try:
            store = context.store
            head = store.read(lambda view: view.head)
            yield []
            for events, _ in follow(store, head):
                yield events
        except (Refusal, Stopped):
            return  # nothing to follow, or nobody listens any more
        finally:
            context.close()

    # -- repositories that are kept open -------------------------------------------------------

    def borrow(self, place: str) -> tuple[float, Repo] | None:
        """A free repository that was opened for this place, and when; closes those that are too old."""
        oldest = monotonic() - FRESH_S
        with self._lock:
            stale = [repo for opened_at, _, repo in self._free if opened_at < oldest]
            self._free = [entry for entry in self._free if entry[0] >= oldest]
            found = next((entry for entry in reversed(self._free) if entry[1] == place), None)
            if found is not None:
                self._free.remove(found)
        for repo in stale:
            repo.close()
        return None if found is None else (found[0], found[2])

    def give_back(self, opened_at: float, place: str, repo: Repo) -> None:
        with self._lock:
            if not self._is_closed:
                self._free.append((opened_at, place, repo))
                if len(self._free) <= MOST_FREE:
                    return
                repo = self._free.pop(0)[2]
        repo.close()

    def bond(self, repo: Repo) -> str:
        """The bond of this process, never released: a client that restarts us keeps its claims for a grace.

        "" if the callers do not live and die with us: their claims end with their leases.
        """
        if not self._is_bond:
            return ""
        with self._lock:
            if self._bond is None:
                self._bond = repo.hold_bond("agent")
            return self._bond[0]

    def close(self) -> None:
        with self._lock:
            self._is_closed, free, self._free = True, self._free, []
        for _, _, repo in free:
            repo.close()


class CallContext(Context):
    """The context of one of many calls; it borrows its repository from the runner."""

    def __init__(
        self,
        runner: CommandRunner,
        call: VerbCall,
        out: Output,
        environ: Mapping[str, str],
        *,
        cwd: str,
        given: str,
        key: str,
    ) -> None:
        super().__init__(out, environ, cwd=cwd, given=given, key=key)
        self._runner, self._call, self._opened_at = runner, call, 0.0
        self._place = place_of(self.cwd, environ, given)
        self._stoppable: Any = None

    def _open(self) -> Repo:
        kept = self._runner.borrow(self._place)
        is_unchecked = kept is None and self._call.requester is not None
        if is_unchecked and not self._runner.is_ours(self.cwd, self.environ):
            raise refuse("serve.elsewhere", path=self.cwd)
        self._opened_at, repo = kept or (monotonic(), super()._open())
        repo.environ = self.environ
        return repo

    def perform(self, verb: str, command: Command, args: Namespace) -> int:
        try:
            return super().perform(verb, command, args)
        except Refusal as lost:
            if not self.key or not lost.facts.get("is_lost"):
                raise
            # A connection that was kept open may have died unnoticed; the key makes a second try safe.
            try:
                return super().perform(verb, command, args)
            except Refusal as refusal:
                raise (lost if is_outage(refusal) else refusal) from None

    def _put_back(self, repo: Repo) -> None:
        self._runner.give_back(self._opened_at, self._place, repo)

    @property
    def store(self) -> Store:
        if self._stoppable is None:
            self._stoppable = _StoppableStore(self.repo.store, self._call)
        store: Store = self._stoppable
        return store

    @property
    def caller(self) -> Caller:
        is_known = self._caller is not None
        caller = super().caller
        # An agent of a supervisor is already bound to it, and outlives this process.
        if not is_known and not caller.is_person and not self.environ.get("LINECLEAR_RUN"):
            caller.bond = self._runner.bond(self.repo)
        return caller


class CapturedOutput(Output):
    """Collects the answer: its data, and its text."""

    def __init__(self, call: VerbCall | None = None) -> None:
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

    def answered(self, *, is_short: bool) -> Reply:
        content = {"schema": SCHEMA, "data": self._data, "warnings": self.warnings}
        return Reply(content, self._text(), is_short=is_short)

    def relayed(self, code: int) -> Reply:
        """The answer of a server that ran the command with --json."""
        content = loads(self._text())
        error = content.get("error")
        if error is None:
            return Reply(content, dumps(content["data"], ensure_ascii=False), is_short=code != 0)
        lines = [error["message"], *([f"Next: run `{error['next']}`."] if error.get("next") else [])]
        return Reply(content, "\n".join(lines), is_refused=True)

    def refused(self, refusal: Refusal) -> Reply:
        self.refuse(refusal)
        content = {"schema": SCHEMA, "error": refusal.as_data(), "warnings": self.warnings}
        return Reply(content, self._text(), is_refused=True)

    def _text(self) -> str:
        streams = (self._out, self._err)
        return "".join(stream.getvalue() for stream in streams if isinstance(stream, io.StringIO)).rstrip(
            "\n"
        )


class _StoppableStore:
    """A store that raises `Stopped` in a call that nobody waits for any more.

    A call that was delayed, and meanwhile repeated elsewhere, then has no effect.
    """

    def __init__(self, store: Store, call: VerbCall) -> None:
        self._store, self._call, self._is_over = store, call, False

    def transact(self, caller: Caller, work: Callable[[Tx], T], near: Iterable[Question] = (), /) -> T:
        def guarded(tx: Tx) -> T:
            self.check()
            return work(tx)

        # Checked inside the transaction: a repeat of this call has written before us, or will come after us.
        return self._store.transact(caller, guarded, near)

    def check(self) -> None:
        """Raises only once, so that the clean-up after it can use the store."""
        if not self._is_over and self._call.is_stopped():
            self._is_over = True
            raise Stopped

    def listen(self) -> _StoppableListener:
        return _StoppableListener(self._store.listen(), self.check)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class _StoppableListener:
    def __init__(self, bell: Listener, check: Callable[[], None]) -> None:
        self._bell, self._check = bell, check

    def __enter__(self) -> Self:
        self._bell.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self._bell.__exit__(*exc)

    def wait(self, timeout_s: float) -> bool:
        self._check()
        is_rung = self._bell.wait(timeout_s)
        self._check()
        return is_rung


def place_of(cwd: str, environ: Mapping[str, str], given: str = "") -> str:
    """A key of all that an opened repository depends on: the directory, the variables about settings, and
    whether they count as an agent's."""
    names = [name for name in environ if name.startswith(_SETTING) and name not in _ABOUT_CALLER]
    is_named = bool(given or environ.get("LINECLEAR_TOKEN"))
    kind = "agent" if is_named or read_environment(environ)[2] else ""
    return "\0".join([kind, cwd, *[f"{name}={environ[name]}" for name in sorted(names)]])


# -- arguments -----------------------------------------------------------------------------------


class Form:
    """Turns named arguments into what the verb's parser would make: with its types, choices and defaults.

    They do not pass through a command line, where a value might look like an option.
    """

    def __init__(self, parser: ArgumentParser) -> None:
        self._parser = parser
        self._actions: dict[str, list[Action]] = {}
        for action in parser._actions:  # argparse has no public way to list them
            self._actions.setdefault(action.dest, []).append(action)
        defaults = {dest: _default(actions[0]) for dest, actions in self._actions.items() if dest != "help"}
        self._lists = {dest: value for dest, value in defaults.items() if isinstance(value, list)}
        self._constants = {dest: value for dest, value in defaults.items() if dest not in self._lists}

    def fill(self, given: dict[str, Any]) -> Namespace:
        args = Namespace(**self._constants)
        for dest, value in self._lists.items():
            setattr(args, dest, list(value))
        for dest, actions in self._actions.items():
            if dest in given:
                for action in actions:
                    setattr(args, dest, _value(self._parser, action, given[dest]))
        for group in self._parser._mutually_exclusive_groups:
            both = [action.dest for action in group._group_actions if given.get(action.dest)]
            if len(both) > 1:
                self._parser.error(f"give one of {' and '.join(both)}")
        return args

    def words(self, given: dict[str, Any]) -> list[str]:
        """The same arguments as words of a command line, positional ones last."""
        options: list[str] = []
        plain: list[str] = []
        for action in self._parser._actions:
            value = given.get(action.dest)
            values = value if isinstance(value, list) else [] if value is None or value is False else [value]
            if not action.option_strings:
                plain += map(str, values)
            elif value is True:
                options.append(action.option_strings[-1])
            else:
                options += [f"{action.option_strings[-1]}={one}" for one in values]
        return [*options, "--", *plain] if plain else options


def _default(action: Action) -> Any:
    if action.nargs == "*" and action.default is None and not action.option_strings:
        return []
    return action.default


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
    if not text.isascii() and any("\ud800" <= ch <= "\udfff" for ch in text):
        parser.error(f"{action.dest} contains half of a surrogate pair")
    converted = text if action.type is None else parser._get_value(action, text)
    if action.choices is not None and converted not in action.choices:
        parser.error(f"{action.dest} must be one of {', '.join(action.choices)}")
    return converted
