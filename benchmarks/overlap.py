"""How long it takes to find what overlaps a request, and whether the index finds what brute force finds."""

from __future__ import annotations

import gc
import itertools
import os
import random
import re
from typing import TYPE_CHECKING

from benchmarks.harness import Report, at_most, cpu_us, median, quantile, scratch, timed_us
from lineclear.app.claims import claims_near
from lineclear.app.ports import Caller
from lineclear.core.claims.granting import EXCLUSIVE, INTENT, SHARED, Request, decide_claim
from lineclear.core.claims.resources import Resource, parse_resource
from lineclear.core.log.events import Draft
from lineclear.core.log.tables import CLAIM
from lineclear.store.copies import new_sqlite

if TYPE_CHECKING:
    from collections.abc import Callable

    from lineclear.app.ports import Store, Tx, View
    from lineclear.core.claims.granting import Answer
    from lineclear.core.log.tables import Claim

TITLE = "overlap: who is in the way of a request, found by index, SQLite"
AGENTS = 100
ROOT_GLOBS = 50
ENDINGS = ("py", "ts", "tsx", "go", "rs", "md", "css", "sql")
TTL_MS = 24 * 3_600_000


def run(quick: bool) -> Report:
    report = Report()
    for count, limit_us, scans in ((10_000, 250, 30), (100_000, 500, 6)):
        with scratch() as directory:
            store = new_sqlite(os.path.join(directory, "store"))
            dice = random.Random(count)
            fill(store, held_resources(count, dice), INTENT)
            _measure_paths(
                report, store, dice, count, 1_000 if quick else 5_000, limit_us, 3 if quick else scans
            )
            if count == 10_000:
                _measure_globs(report, store, 10 if quick else 100)
            store.close()
    pairs = 20_000 if quick else 100_000
    wrong, met = count_disagreements(pairs)
    report.add(f"disagreements with brute force, {pairs:,} pairs", wrong, "pairs", target=at_most(0))
    report.note(f"{ROOT_GLOBS} of the claims are globs anchored at the root.")
    report.note(f"{met:,} of the {pairs:,} random pairs (files, directories, globs, symbols) do overlap.")
    return report


# -- a store with many claims -----------------------------------------------------------------


def file_of(dice: random.Random, count: int) -> str:
    """A path in a repository whose directories grow in number, not in size."""
    top, middle = dice.randrange(20), dice.randrange(max(1, count // 400))
    return f"src/area{top}/part{middle}/file{dice.randrange(100)}.{dice.choice(ENDINGS)}"


def held_resources(count: int, dice: random.Random) -> list[Resource]:
    """Mostly files, some directories and local globs, and the globs anchored at the root."""
    half = ROOT_GLOBS // 2
    texts = dict.fromkeys(f"**/generated{n}/*.{ENDINGS[n % len(ENDINGS)]}" for n in range(half))
    texts |= dict.fromkeys(f"**/*.kind{n}" for n in range(ROOT_GLOBS - half))
    while len(texts) < count:
        path, shape = file_of(dice, count), dice.random()
        if shape < 0.02:
            path = f"lib/{path.rpartition('/')[0]}{len(texts)}/"
        elif shape < 0.04:
            path = f"lib/{path.rpartition('/')[0]}/**/*.{dice.choice(ENDINGS)}{len(texts)}"
        texts[path] = None
    return [parse_resource(text) for text in texts]


def fill(store: Store, resources: list[Resource], mode: str) -> None:
    """Claims of many agents, each in its own worktree, with the events that the use case would append."""
    for number in range(AGENTS):
        mine, tree = resources[number::AGENTS], f"tree-{number}"

        def work(tx: Tx, mine: list[Resource] = mine, tree: str = tree) -> None:
            for resource in mine:
                tx.append(_granted(tx, resource, mode, tree))

        store.transact(Caller(f"agent-{number}", tree=tree), work)


def _granted(tx: Tx, resource: Resource, mode: str, tree: str) -> Draft:
    return Draft(
        "ClaimGranted", resource.text, resource=resource.text, node=resource.node, mode=mode, tree=tree,
        note="", task=0, ttl_ms=TTL_MS, bond="", until_ns=tx.now.in_ms(TTL_MS),
    )  # fmt: skip


# -- time -------------------------------------------------------------------------------------


def check(view: View, resource: Resource, near: Callable[[View, Resource], list[Claim]]) -> Answer:
    request = Request("asker", "main", EXCLUSIVE, [resource], ttl_ms=TTL_MS)
    return decide_claim(request, near(view, resource), [], view.now, lambda _bond: False)


def every_claim(view: View, _resource: Resource) -> list[Claim]:
    return view.scan(CLAIM, "key")


def checking(resource: Resource, near: Callable[[View, Resource], list[Claim]]) -> Callable[[View], Answer]:
    return lambda view: check(view, resource, near)


def _times_us(
    store: Store,
    resources: list[Resource],
    near: Callable[[View, Resource], list[Claim]],
    clock: Callable[[Callable[[], object]], float] = timed_us,
) -> list[float]:
    """The check alone, each in a read view of its own."""

    def timing(work: Callable[[View], Answer]) -> Callable[[View], float]:
        return lambda view: clock(lambda: work(view))

    return [store.read(timing(checking(resource, near))) for resource in resources]


def _settle() -> None:
    """What filling left behind is not the garbage of the check that is measured next."""
    gc.collect()
    gc.freeze()


def _measure_paths(
    report: Report, store: Store, dice: random.Random, count: int, asked: int, limit_us: float, scans: int
) -> None:
    resources = [parse_resource(file_of(dice, count)) for _ in range(asked)]
    _times_us(store, resources[:200], claims_near)
    _settle()
    times = _times_us(store, resources, claims_near)
    cpu = _times_us(store, resources, claims_near, cpu_us)
    linear = _times_us(store, resources[:scans], every_claim)
    report.add(
        f"a path, {count:,} live claims, p50",
        median(times),
        "us",
        beside=(median(linear), "all claims read and compared, p50"),
    )
    report.add(
        f"a path, {count:,} live claims, p99",
        quantile(times, 0.99),
        "us",
        beside=(max(linear), f"the same, worst of {scans}"),
        target=at_most(limit_us),
    )
    report.add("the same in CPU time, p99", quantile(cpu, 0.99), "us", target=at_most(limit_us))


def _measure_globs(report: Report, store: Store, asked: int) -> None:
    texts = [f"**/*.{ENDINGS[n % len(ENDINGS)]}" for n in range(asked // 2)]
    texts += [f"src/**/file{n}.*" for n in range(asked - len(texts))]
    resources = [parse_resource(text) for text in texts]
    _times_us(store, resources[:3], claims_near)
    _settle()
    times = [time_us / 1_000 for time_us in _times_us(store, resources, claims_near)]
    linear = [time_us / 1_000 for time_us in _times_us(store, resources[: max(3, asked // 10)], every_claim)]
    report.add(
        "a glob over everything, 10,000 live claims, p50",
        median(times),
        "ms",
        beside=(median(linear), "all claims read and compared, p50"),
    )
    report.add(
        "a glob over everything, 10,000 live claims, p99",
        quantile(times, 0.99),
        "ms",
        beside=(max(linear), "the same, worst"),
        target=at_most(20),
    )
    cpu_ms = [time_us / 1_000 for time_us in _times_us(store, resources, claims_near, cpu_us)]
    report.add("the same in CPU time, p99", quantile(cpu_ms, 0.99), "ms", target=at_most(20))


# -- agreement --------------------------------------------------------------------------------

NAMES = ("a", "b", "ab")
SEGMENTS = ("a", "b", "ab", "*", "**", "a*", "*b", "?")
MOST_SEGMENTS = 3
# Two patterns of three segments have a common path of at most six names if they have any.
PATHS = [
    "/".join(path)
    for depth in range(1, 2 * MOST_SEGMENTS + 1)
    for path in itertools.product(NAMES, repeat=depth)
]


class Brute:
    """A resource as a list of names, or for a glob as the set of all small paths that match it."""

    def __init__(self, resource: Resource) -> None:
        self.kind = resource.kind
        self.names = [*resource.path.split("/"), *(f"#{part}" for part in resource.symbol.split(".") if part)]
        self.path = resource.path
        self.matched: frozenset[str] = frozenset()
        if self.kind == "glob":
            reading = re.compile("".join(_expression(part) for part in resource.path.split("/")))
            self.matched = frozenset(path for path in PATHS if reading.fullmatch(path + "/"))
            literal = itertools.takewhile(lambda part: not set(part) & {"*", "?"}, resource.path.split("/"))
            self.anchor = list(literal)

    def meets(self, other: Brute) -> bool:
        if self.kind == "glob" and other.kind == "glob":
            return not self.matched.isdisjoint(other.matched)
        if self.kind == "glob":
            return self._meets_literal(other)
        if other.kind == "glob":
            return other._meets_literal(self)
        return _is_prefix(self.names, other.names) or _is_prefix(other.names, self.names)

    def _meets_literal(self, other: Brute) -> bool:
        if other.path in self.matched:
            return True
        if other.kind == "dir":
            return any(path.startswith(other.path + "/") for path in self.matched)
        # A file may yet become a directory, so it also meets what is anchored below it.
        return other.kind == "file" and _is_prefix(other.names, self.anchor)


def _expression(segment: str) -> str:
    if segment == "**":
        return "(?:[^/]+/)*"
    return "(?=[^/])" + segment.replace("*", "[^/]*").replace("?", "[^/]") + "/"


def _is_prefix(short: list[str], long: list[str]) -> bool:
    return long[: len(short)] == short


def random_resource(dice: random.Random) -> str:
    shape = dice.random()
    path = "/".join(dice.choice(NAMES) for _ in range(dice.randint(1, 4)))
    if shape < 0.3:
        return path
    if shape < 0.5:
        return path + "/"
    if shape < 0.6:
        return f"symbol:{path}#{dice.choice(('f', 'f.g', 'h'))}"
    return "/".join(dice.choice(SEGMENTS) for _ in range(dice.randint(1, MOST_SEGMENTS)))


def random_resources(dice: random.Random, count: int) -> list[Resource]:
    found: dict[str, Resource] = {}
    while len(found) < count:
        resource = parse_resource(random_resource(dice))
        found[resource.text] = resource
    return list(found.values())


def count_disagreements(pairs: int) -> tuple[int, int]:
    """(pairs on which the decision through the index and brute force differ, pairs that do overlap)."""
    dice = random.Random(pairs)
    held = random_resources(dice, 400)
    asked = random_resources(dice, pairs // len(held))
    judges = {resource.text: Brute(resource) for resource in (*held, *asked)}
    wrong = met = 0
    with scratch() as directory:
        store = new_sqlite(os.path.join(directory, "store"))
        fill(store, held, SHARED)
        for resource in asked:
            answer = store.read(checking(resource, claims_near))
            found = {blocker.resource for blocker in answer.blockers}
            expected = {other.text for other in held if judges[resource.text].meets(judges[other.text])}
            wrong += len(found ^ expected)
            met += len(expected)
        store.close()
    return wrong, met
