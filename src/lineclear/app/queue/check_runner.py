"""Run the repository's checks on a commit, in a check tree: set the tree up, then run one command after the
other up to the first that fails.

The commands come from main's own version of the settings, and only trusted ones run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.core.queue.checks import CANCELLED, OUT_OF_TIME, Check, checks_for, plain_output, tell_failure
from lineclear.core.secret_masking import mask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from threading import Event

    from lineclear.app.queue.ports import CheckPlace
    from lineclear.core.claims.resources import Resource

_SET_UP = "set-up"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandEnd:
    """How a command ended. `code`: 128 + N for signal N, -1 out of time, -2 cancelled; `tail`: the end of its
    output; `log`: the file with all of it."""

    code: int
    tail: str
    log: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """How a check ended, or the set-up command that failed before it (`is_set_up`).

    `code` as in `CommandEnd`; `took_ms` covers all `tries`; `log`: the file with the last try's output.
    `tail` is the end of that output and `words` describes the failure in at most 4 KB, both without control
    characters and secrets. The pool adds the checked `tree` and the `key` under which its verdict is stored.
    """

    name: str
    command: str
    code: int
    took_ms: int
    tries: int
    log: str
    tail: str
    words: str
    tree: str = ""
    key: str = ""

    @property
    def is_green(self) -> bool:
        return self.code == 0

    @property
    def is_flaky(self) -> bool:
        """It failed at first and passed when repeated."""
        return self.code == 0 and self.tries > 1

    @property
    def is_set_up(self) -> bool:
        return self.name == _SET_UP


class CheckRunner:
    """Runs the checks in main's settings.

    `stated`: the checks, each with the paths that need it. `setup_timeout_ms`: for all set-up commands
    together. `require_trusted` refuses checks that nobody trusts. `provisioning` returns a digest that
    changes when trees are set up differently. `secrets` is called once.
    """

    def __init__(
        self,
        stated: Sequence[tuple[Check, Resource | None]],
        *,
        setup_timeout_ms: int,
        require_trusted: Callable[[Sequence[Check]], None],
        provisioning: Callable[[], str],
        secrets: Callable[[], Sequence[str]],
        monotonic_s: Callable[[], float],
    ) -> None:
        self.stated, self.require_trusted, self.provisioning = stated, require_trusted, provisioning
        self._setup_timeout_ms, self._ask_secrets, self._monotonic_s = setup_timeout_ms, secrets, monotonic_s
        self._secrets: Sequence[str] | None = None

    def checks(self, changed: Iterable[str]) -> list[Check]:
        """The checks that a change of these paths has to pass."""
        return checks_for(self.stated, changed)

    def run(
        self,
        commit: str,
        place: CheckPlace,
        checks: Sequence[Check],
        *,
        cancel: Event,
        env: Mapping[str, str] | None = None,
    ) -> list[CheckResult]:
        """How each check ended on the commit, up to the first that is not green; empty if cancelled before
        that. `env` is added to the environment of every check."""
        if not checks:
            return []
        self.require_trusted(checks)
        found: list[CheckResult] = []
        try:
            failed = self._prepare(commit, place, cancel)
            if failed is not None:
                return [failed] if failed.code != CANCELLED else []
            for check in checks:
                if cancel.is_set():
                    return []
                result = self._check(commit, place, check, cancel, env or {})
                if result.code == CANCELLED:
                    return []
                found.append(result)
                if not result.is_green:
                    break
        finally:
            place.end_strays()
        return found

    def _prepare(self, commit: str, place: CheckPlace, cancel: Event) -> CheckResult | None:
        """Set the tree up like an agent's worktree. Returns the set-up command that failed, if one did."""
        if cancel.is_set():
            return None
        key = place.prepare(commit)
        if not key:
            return None
        started_s = self._monotonic_s()
        failed = place.set_up(key, cancel)
        if failed is None:
            return None
        command, end = failed
        check = Check(command, timeout_ms=self._setup_timeout_ms, name=_SET_UP)
        return self._result(check, end, started_s=started_s, tries=1)

    def _check(
        self, commit: str, place: CheckPlace, check: Check, cancel: Event, more: Mapping[str, str]
    ) -> CheckResult:
        started_s = self._monotonic_s()
        for tries in range(1, check.retries + 2):
            if tries > 1:
                # The next try must not see what the failed one left behind.
                failed = self._prepare(commit, place, cancel)
                if failed is not None:
                    return failed
            env = {**check.env, **more}
            end = place.run(check.command, timeout_s=check.timeout_ms / 1_000, cancel=cancel, env=env)
            if end.code in (0, CANCELLED):
                break
        return self._result(check, end, started_s=started_s, tries=tries)

    def _result(self, check: Check, end: CommandEnd, *, started_s: float, tries: int) -> CheckResult:
        took_ms = int((self._monotonic_s() - started_s) * 1_000)
        if self._secrets is None:
            self._secrets = self._ask_secrets()
        words = ""
        if end.code != 0:
            words = tell_failure(
                check.command,
                end.code,
                end.tail,
                timeout_ms=check.timeout_ms if end.code == OUT_OF_TIME else 0,
                tries=tries,
                secrets=self._secrets,
            )
        return CheckResult(
            name=check.name,
            command=check.command,
            code=end.code,
            took_ms=took_ms,
            tries=tries,
            log=end.log,
            tail=mask(plain_output(end.tail), self._secrets),
            words=words,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecksOfMain:
    """The checks that one commit of main states. A pool calls `run`, which does what `runner.run` does, in
    another thread."""

    runner: CheckRunner
    run: Callable[[str, Sequence[Check], Event], list[CheckResult]]
