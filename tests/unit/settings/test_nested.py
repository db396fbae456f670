"""Tables whose keys a file names itself: workers, prices, variables, checks by path."""

from __future__ import annotations

import pytest

from lineclear.core.words.refusals import Refusal
from lineclear.settings import Settings, build_settings
from lineclear.settings.checks import MAX_CHECK_PATHS
from lineclear.settings.env_tables import MAX_VARIABLES
from lineclear.settings.prices import MAX_PRICES
from lineclear.settings.showing import show
from lineclear.settings.workers import MAX_WORKERS, worker_named

TEAM, LOCAL = "lineclear.toml", "local.toml"


def build(team: str = "", local: str = "", **more: object) -> Settings:
    return build_settings(team=team.encode(), local=local.encode(), **{"environ": {}, **more})  # type: ignore[arg-type]


def refused(team: str, local: str = "") -> Refusal:
    with pytest.raises(Refusal) as caught:
        build(team, local)
    assert len(str(caught.value)) <= 300
    assert caught.value.code == "settings.value"
    return caught.value


# -- workers ----------------------------------------------------------------------------------


def test_a_worker_that_says_nothing_is_the_client_of_its_name() -> None:
    (worker,) = build("[workers.claude]").workers
    assert (worker.name, worker.client, worker.count, worker.origin) == ("claude", "claude", 1, TEAM)
    assert (worker.labels, worker.command, worker.model, worker.stream, worker.env) == ((), (), "", "", {})
    assert (worker.permissions, worker.worktree, worker.sandbox) == ("edit", True, "off")
    assert (worker.run_time_ms, worker.run_tokens) == (7_200_000, 0)
    assert (worker.run_money_micros, worker.run_memory_bytes) == (0, 0)
    assert worker.origins == {}


def test_a_worker_has_what_its_table_says() -> None:
    (worker,) = build(
        "[workers.reviewer]\nclient = 'plain'\ncount = 3\nlabels = ['review', 'ui/css']\n"
        "command = ['./review.sh', '{prompt_file}', '']\nmodel = 'm-1'\npermissions = 'full'\n"
        "worktree = false\nstream = 'plain'\nrun_time = '1h'\nrun_tokens = 7\nrun_money = '0.5'\n"
        "run_memory = '4GiB'\nsandbox = 'bwrap'\nenv = { A = 'b' }"
    ).workers
    assert (worker.client, worker.count, worker.labels) == ("plain", 3, ("review", "ui/css"))
    assert worker.command == ("./review.sh", "{prompt_file}", "")
    assert (worker.model, worker.permissions, worker.worktree, worker.stream) == (
        "m-1",
        "full",
        False,
        "plain",
    )
    assert (worker.run_time_ms, worker.run_tokens, worker.run_money_micros) == (3_600_000, 7, 500_000)
    assert (worker.run_memory_bytes, worker.sandbox, worker.env) == (4 << 30, "bwrap", {"A": "b"})
    assert set(worker.origins.values()) == {TEAM}


def test_workers_keep_their_order_and_the_clones_own_file_changes_single_keys() -> None:
    team = "[workers.b]\ncount = 2\nmodel = 'x'\nenv = { A = '1', B = '1' }\n[workers.a]"
    local = "[workers.c]\n[workers.b]\nmodel = 'y'\nenv = { B = '2' }"
    workers = build(team, local).workers
    assert [worker.name for worker in workers] == ["b", "a", "c"]
    b = workers[0]
    assert (b.count, b.model, b.env, b.origin) == (2, "y", {"A": "1", "B": "2"}, LOCAL)
    assert b.origins == {"count": TEAM, "model": LOCAL, "env.A": TEAM, "env.B": LOCAL}


@pytest.mark.parametrize(
    ("team", "local", "environ", "run_time_ms"),
    [
        ("[workers.a]\nrun_time = '1m'", "", {}, 60_000),
        ("[budgets]\nrun_time = '2m'\n[workers.a]\nrun_time = '1m'", "", {}, 60_000),
        ("[budgets]\nrun_time = '2m'\n[workers.a]", "", {}, 120_000),
        ("[workers.a]\nrun_time = '1m'", "[budgets]\nrun_time = '2m'", {}, 120_000),
        ("[workers.a]\nrun_time = '1m'", "", {"LINECLEAR_BUDGETS_RUN_TIME": "3m"}, 180_000),
        ("", "[workers.a]\nrun_time = '1m'\n[budgets]\nrun_time = '2m'", {}, 60_000),
    ],
)
def test_a_budget_of_a_later_source_wins_over_the_workers_own(
    team: str, local: str, environ: dict[str, str], run_time_ms: int
) -> None:
    assert build(team, local, environ=environ).workers[0].run_time_ms == run_time_ms


def test_a_committed_worker_does_not_leave_the_sandbox_that_this_clone_asks_for() -> None:
    team, local = "[workers.a]\nsandbox = 'off'", "[worktrees]\nsandbox = 'bwrap'"
    assert build(team, local).workers[0].sandbox == "bwrap"


def test_a_worker_is_found_by_its_name_or_made_from_a_clients() -> None:
    settings = build("[budgets]\nrun_tokens = 9\n[workers.a]\ncount = 2")
    assert worker_named(settings, "a").count == 2
    fresh = worker_named(settings, "codex")
    assert (fresh.client, fresh.origin, fresh.run_tokens) == ("codex", "default", 9)


@pytest.mark.parametrize(
    ("team", "name"),
    [
        ("workers = 1", "workers"),
        ("[workers]\na = 1", "workers.a"),
        ("[workers.'a b']", "workers.a b"),
        ("[workers.all]", "workers.all"),
        ("[workers.'-a']", "workers.-a"),
        ("[workers.a]\ncount = 0", "workers.a.count"),
        ("[workers.a]\ncount = 201", "workers.a.count"),
        ("[workers.a]\nlabels = ['UI']", "workers.a.labels"),
        ("[workers.a]\ncommand = 'run me'", "workers.a.command"),
        ("[workers.a]\ncommand = ['', 'x']", "workers.a.command"),
        ("[workers.a]\ncommand = ['a', 1]", "workers.a.command"),
        ("[workers.a]\nmodel = '--danger'", "workers.a.model"),
        ("[workers.a]\npermissions = 'all'", "workers.a.permissions"),
        ("[workers.a]\nrun_money = '0'", "workers.a.run_money"),
        ("[workers.a]\nenv = 1", "workers.a.env"),
        ("[workers.a.env]\nLINECLEAR_AGENT = 'x'", "workers.a.env.LINECLEAR_AGENT"),
    ],
)
def test_an_unusable_worker_is_refused_by_its_key(team: str, name: str) -> None:
    assert refused(team).facts["name"] == name


def test_there_are_at_most_so_many_workers() -> None:
    team = "\n".join(f"[workers.w{number}]" for number in range(MAX_WORKERS))
    assert len(build(team).workers) == MAX_WORKERS
    assert refused(team, "[workers.one-more]").facts["origin"] == LOCAL


def test_an_unknown_key_of_a_worker_is_ignored_with_a_suggestion() -> None:
    assert build("[workers.a]\ncuont = 2").warnings == [
        'lineclear.toml: the key "workers.a.cuont" is unknown and ignored; did you mean "workers.a.count"?'
    ]


# -- prices -----------------------------------------------------------------------------------


def test_a_price_is_exact_and_cached_tokens_cost_as_others_unless_said() -> None:
    prices = build(
        '[prices]\n"m-4.1" = { input = 3, output = "15.0", cached = 0.3 }\nb.input = 0.1\nb.output = 1'
    ).prices
    assert list(prices) == ["m-4.1", "b"]
    price = prices["m-4.1"]
    assert (price.input_micros, price.output_micros, price.cached_micros) == (3_000_000, 15_000_000, 300_000)
    assert (price.name, price.origin) == ("m-4.1", TEAM)
    assert prices["b"].cached_micros == 100_000


def test_a_price_of_the_clones_own_replaces_the_teams() -> None:
    prices = build(
        "[prices]\na = { input = 1, output = 1, cached = 1 }", "prices.a = { input = 2, output = 2 }"
    )
    assert (prices.prices["a"].cached_micros, prices.prices["a"].origin) == (2_000_000, LOCAL)


@pytest.mark.parametrize(
    ("team", "name"),
    [
        ("prices = 1", "prices"),
        ("[prices]\na = 1", "prices.a"),
        ("[prices]\na = { input = 1 }", "prices.a"),
        ("[prices]\nm-4.1 = { input = 1, output = 1 }", "prices.m-4"),
        ("[prices]\n'' = { input = 1, output = 1 }", "prices."),
        ("[prices]\na = { input = -1, output = 1 }", "prices.a.input"),
        ("[prices]\na = { input = 1, output = nan }", "prices.a.output"),
        ("[prices]\na = { input = 1, output = 1, cached = 0.0000001 }", "prices.a.cached"),
        ("[prices]\na = { input = 1000001, output = 1 }", "prices.a.input"),
    ],
)
def test_an_unusable_price_is_refused_by_its_name(team: str, name: str) -> None:
    assert refused(team).facts["name"] == name


def test_a_price_may_be_nothing() -> None:
    assert build("[prices]\na = { input = 0, output = 0 }").prices["a"].input_micros == 0


def test_there_are_at_most_so_many_prices() -> None:
    lines = [f"p{number} = {{ input = 1, output = 1 }}" for number in range(MAX_PRICES + 1)]
    assert len(build("[prices]\n" + "\n".join(lines[:-1])).prices) == MAX_PRICES
    assert refused("[prices]\n" + "\n".join(lines)).facts["name"] == "prices"


# -- variables --------------------------------------------------------------------------------


def test_variables_of_worktrees_are_taken_one_by_one() -> None:
    settings = build("[worktrees.env]\nA = '1'\nB = '1'", "worktrees.env.B = '2'")
    assert settings.worktrees_env == {"A": "1", "B": "2"}
    assert (settings.origins["worktrees.env.A"], settings.origins["worktrees.env.B"]) == (TEAM, LOCAL)


@pytest.mark.parametrize(
    "line",
    [
        "A = 1",
        "A = 'x\\u0000'".replace("'", '"'),
        "'1A' = 'x'",
        "'' = 'x'",
        "'A=B' = 'x'",
        "'Ä' = 'x'",
        "LINECLEAR_TOKEN = 'x'",
        "GIT_DIR = 'x'",
        "GIT_INDEX_FILE = 'x'",
        f"{'A' * 101} = 'x'",
        f"A = '{'x' * 4_001}'",
    ],
)
def test_an_unusable_variable_is_refused_and_its_value_not_told(line: str) -> None:
    refusal = refused(f"[worktrees.env]\n{line}")
    assert refusal.facts["name"].startswith("worktrees.env.")
    assert "xxx" not in str(refusal)


def test_variables_that_are_no_table_or_too_many_are_refused() -> None:
    assert refused("worktrees.env = 'A=1'").facts["name"] == "worktrees.env"
    lines = "\n".join(f"V{number} = ''" for number in range(MAX_VARIABLES + 1))
    assert refused(f"[worktrees.env]\n{lines}").facts["name"] == "worktrees.env"


def test_a_secret_is_warned_of_in_the_committed_file_only_and_never_shown() -> None:
    text = "[worktrees.env]\nMY_API_KEY = 'hunter2'\n[workers.a.env]\nA_TOKEN = 'hunter2'"
    assert build(local=text).warnings == []
    assert build(text).warnings == [
        "lineclear.toml: worktrees.env.MY_API_KEY may be a secret; move it to .git/lineclear/local.toml.",
        "lineclear.toml: workers.a.env.A_TOKEN may be a secret; move it to .git/lineclear/local.toml.",
    ]
    assert "hunter2" not in str(show(build(text)))


# -- checks by path ---------------------------------------------------------------------------


def test_checks_by_path_keep_their_order_and_the_clones_own_come_last() -> None:
    entry = "[[checks.paths]]\nmatch = '{}'\ncommand = '{}'\n"
    team = entry.format("web/", "npm test") + entry.format("**/*.sql", "lint")
    found = build(team, entry.format("README", "spell")).check_paths
    assert [(c.resource.text, c.command, c.origin, c.number) for c in found] == [
        ("file:web/", "npm test", TEAM, 1),
        ("file:**/*.sql", "lint", TEAM, 2),
        ("file:README", "spell", LOCAL, 1),
    ]


def test_the_match_of_a_check_folds_case_as_paths_do() -> None:
    team = "[[checks.paths]]\nmatch = 'README'\ncommand = 'x'"
    assert build(team, folds_case=True).check_paths[0].resource.text == "file:readme"


@pytest.mark.parametrize(
    "entry",
    [
        "[checks.paths]\nmatch = 'a'",
        "checks.paths = [1]",
        "[[checks.paths]]\ncommand = 'x'",
        "[[checks.paths]]\nmatch = 1\ncommand = 'x'",
        "[[checks.paths]]\nmatch = '../a'\ncommand = 'x'",
        "[[checks.paths]]\nmatch = 'port:80'\ncommand = 'x'",
        "[[checks.paths]]\nmatch = 'a'",
        "[[checks.paths]]\nmatch = 'a'\ncommand = ''",
        "[[checks.paths]]\nmatch = 'a'\ncommand = ['x']",
    ],
)
def test_an_unusable_check_by_path_is_refused(entry: str) -> None:
    assert str(refused(entry).facts["name"]).startswith("checks.paths")


def test_there_are_at_most_so_many_checks_by_path() -> None:
    entry = "[[checks.paths]]\nmatch = 'a'\ncommand = 'x'\n"
    assert len(build(entry * MAX_CHECK_PATHS).check_paths) == MAX_CHECK_PATHS
    assert refused(entry * MAX_CHECK_PATHS, entry).facts["origin"] == LOCAL


def test_an_unknown_key_of_a_check_is_ignored_with_a_suggestion() -> None:
    team = "[[checks.paths]]\nmatch = 'a'\ncommand = 'x'\ncomand = 'y'"
    assert build(team).warnings == [
        'lineclear.toml: the key "checks.paths.comand" is unknown and ignored; '
        'did you mean "checks.paths.command"?'
    ]


# -- showing ----------------------------------------------------------------------------------


def test_what_a_file_names_is_shown_with_its_origin() -> None:
    team = (
        "[workers.a]\ncount = 2\nrun_time = '1h'\nenv = { X = 'y' }\n"
        "[prices]\nm = { input = 3, output = 15 }\n[worktrees.env]\nA = '1'\n"
        "[[checks.paths]]\nmatch = 'web/'\ncommand = 'npm test'"
    )
    facts = {entry["name"]: (entry["value"], entry["origin"]) for entry in show(build(team))}
    assert facts["workers.a.client"] == ("a", TEAM)
    assert facts["workers.a.count"] == (2, TEAM)
    assert facts["workers.a.run_time"] == ("1h", TEAM)
    assert facts["workers.a.env.X"] == ("y", TEAM)
    assert facts["prices.m"] == ("input 3.00, output 15.00, cached 3.00", TEAM)
    assert facts["worktrees.env.A"] == ("1", TEAM)
    assert facts["checks.paths file:web/"] == ("npm test", TEAM)
    assert "workers.a.model" not in facts
