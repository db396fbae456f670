"""Begin a phase and do its work at once: integrate proposals, or run the full check. One process of a clone
does this at a time.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.app.queue import full_checks, integrating, phases
from lineclear.core.queue.phases import INTEGRATE, TEST
from lineclear.core.words.refusals import Refusal, refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from typing import Any

    from lineclear.app.ports import Caller, Store
    from lineclear.app.queue.full_checks import FullCheck, FullCheckGit
    from lineclear.app.queue.integrating import Remake, Submit
    from lineclear.app.queue.lock_making import LockMaker
    from lineclear.app.queue.merge_trees import MergeRules
    from lineclear.app.queue.runner_turns import TurnBond
    from lineclear.core.claims.strategies import Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseTools:
    """What the work needs from outside. `hold_bond` refuses while another process works. `full_check` takes
    main's commit and returns None if its settings have no full check. `may`: would the queue let the
    integrator land a change of this path?"""

    hold_bond: Callable[[], TurnBond]
    open_git: Callable[[], AbstractContextManager[FullCheckGit]]
    full_check: Callable[[str], FullCheck | None]
    merge_rules: MergeRules
    submit: Submit
    remake: Remake
    maker_by: Callable[[Callable[[], str]], LockMaker]
    may: Callable[[str], bool]


class PhaseWork:
    """Proposals are decided and candidates submitted in the name of `integrator`."""

    def __init__(self, store: Store, rules: list[Rule], integrator: Caller, tools: PhaseTools) -> None:
        self._store, self._rules, self._integrator, self._tools = store, rules, integrator, tools

    def begin(
        self, caller: Caller, phase: str, *, note: str = "", tell: Callable[[str], None] = lambda _: None
    ) -> dict[str, Any]:
        """Begin a phase, or continue the current one, and do its work.

        The answer's `results` say what became of proposals, `test` how a full run ended.
        """
        with self._alone(), self._tools.open_git() as git:
            if phase == TEST:
                self._full_check(_main(git)).require_trust()
            self.settle()
            answer = phases.begin(self._store, caller, self._rules, phase, note)
            answer |= {"results": [], "test": None}
            if phase == INTEGRATE:
                answer["results"] = integrating.integrate(self._integration(git))
            elif phase == TEST:
                check = self._full_check(git.main())
                answer["test"] = full_checks.run_all(
                    full_checks.FullRun(
                        self._store,
                        self._integrator,
                        git,
                        check,
                        self._tools.merge_rules,
                        self._tools.submit,
                        tell,
                    )
                )
            return answer

    def settle(self) -> list[dict[str, Any]]:
        """Decide the proposals whose candidates have ended; the queue does the same after each landing."""
        return integrating.settle(self._store, self._integrator)

    def show(self) -> dict[str, Any]:
        """The phase, the resources that are bound to one, and the progress of its work."""
        shown = self._store.read(lambda view: phases.show(view, self._rules))
        if shown["phase"] == TEST:
            with self._tools.open_git() as git:
                shown["progress"] = self._tested(git)
        return shown

    def _tested(self, git: FullCheckGit) -> dict[str, int]:
        main = git.main()
        try:
            check = self._full_check(main)
        except Refusal:  # main no longer states a full check
            return {}
        return self._store.read(lambda view: full_checks.progress(view, check, git.tree_of(main)))

    def _full_check(self, main: str) -> FullCheck:
        check = self._tools.full_check(main)
        if check is None:
            raise refuse("phase.no_check")
        return check

    def _integration(self, git: FullCheckGit) -> integrating.IntegrationTools:
        _main(git)
        tools = self._tools
        return integrating.IntegrationTools(
            self._store, self._integrator, self._rules, git, tools.merge_rules, tools.submit, tools.remake,
            tools.maker_by(git.main), tools.may,
        )  # fmt: skip

    @contextmanager
    def _alone(self) -> Iterator[None]:
        try:
            bond = self._tools.hold_bond()
        except Refusal as refusal:
            raise refuse("phase.busy") from refusal
        try:
            yield
        finally:
            bond.release()


def _main(git: FullCheckGit) -> str:
    main = git.main()
    if not main:
        raise refuse("land.unborn", main=git.branch)
    return main
