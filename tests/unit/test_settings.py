"""Settings from files, environment and flags: which wins, what is refused, what is only warned of."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lineclear.core.durations import DAY_MS, LONGEST_MS, parse_duration
from lineclear.core.words.computed.settings import broken_settings, settings_too_large
from lineclear.core.words.refusals import Refusal, refuse
from lineclear.settings import OTHER_VARIABLES, SETTINGS, Settings, build_settings
from lineclear.settings.loading import MAX_DOTS_IN_LINE, MAX_FILE_BYTES
from lineclear.settings.showing import redact, show
from lineclear.settings.strategies import MAX_STRATEGIES
from lineclear.settings.unknown import MAX_WARNINGS
from lineclear.settings.values import expected, write_duration

PASSWORD = "hunter2"
URL = f"postgresql://ada:{PASSWORD}@db.example/work"


def build(
    team: str = "",
    local: str = "",
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, str] | None = None,
    folds_case: bool = False,
) -> Settings:
    return build_settings(
        team=team.encode(), local=local.encode(), environ=environ or {}, flags=flags, folds_case=folds_case,
        is_trusted=lambda _where, _text: True,
    )  # fmt: skip


def refused(**sources: object) -> Refusal:
    with pytest.raises(Refusal) as caught:
        build(**sources)  # type: ignore[arg-type]
    assert len(str(caught.value)) <= 300
    assert len(str(caught.value).splitlines()) <= 3
    return caught.value


def strategy(match: str, kind: str = "locked", more: str = "") -> str:
    return f"[[strategy]]\nmatch = '{match}'\nstrategy = '{kind}'\n{more}\n"


# -- the table --------------------------------------------------------------------------------


def test_without_any_source_every_setting_has_its_default() -> None:
    settings = build_settings(environ={})
    for name, setting in SETTINGS.items():
        assert getattr(settings, setting.attribute) == setting.default
        assert settings.origins[name] == "default"
    assert (settings.rules, settings.warnings) == ([], [])


def test_every_setting_has_the_type_that_its_row_declares() -> None:
    types = {"str": str, "int": int, "bool": bool, "tuple[str, ...]": tuple}
    for row in SETTINGS.values():
        assert type(row.default) is types[Settings.__annotations__[row.attribute]], row.name


def test_the_names_of_a_setting_follow_from_its_attribute() -> None:
    row = SETTINGS["worktrees.setup_timeout"]
    assert row.attribute == "worktrees_setup_timeout_ms"
    assert row.variable == "LINECLEAR_WORKTREES_SETUP_TIMEOUT"
    assert SETTINGS["run.log_size"].attribute == "run_log_size_bytes"
    assert SETTINGS["budgets.day_money"].attribute == "budgets_day_money_micros"


def test_two_values_share_nothing_that_can_change() -> None:
    one, other = Settings(), Settings()
    one.claims_ttl_ms = 1
    one.origins["claims.ttl"] = "flag"
    one.warnings.append("x")
    assert (other.claims_ttl_ms, other.origins["claims.ttl"], other.warnings) == (1_800_000, "default", [])


def test_a_short_help_is_the_first_sentence() -> None:
    assert SETTINGS["claims.ttl"].about == "How long a claim lasts unless it is renewed"
    for row in SETTINGS.values():
        assert row.help.endswith("."), row.name
        assert len(row.about) <= 110, row.name


def test_the_defaults_are_these() -> None:
    settings = build()
    assert (settings.repo_id, settings.store_url, settings.agents_person) == ("", "", "")
    assert (settings.claims_ttl_ms, settings.tasks_attempts) == (1_800_000, 3)
    assert (settings.tasks_lease_ms, settings.tasks_attempts) == (1_800_000, 3)
    assert settings.operations_keep_ms == 86_400_000
    assert (settings.agents_grace_ms, settings.agents_silence_ms) == (10_000, 600_000)
    assert (settings.paths_fold_case, settings.paths_nfc, settings.resources_schemes) == ("auto", True, ())


# -- which source wins ------------------------------------------------------------------------


def test_each_later_source_wins_over_the_ones_before() -> None:
    team, local = '[claims]\nttl = "1m"', '[claims]\nttl = "2m"'
    environ, flags = {"LINECLEAR_CLAIMS_TTL": "3m"}, {"claims.ttl": "4m"}
    found = [build(team), build(team, local), build(team, local, environ), build(team, local, environ, flags)]
    assert [(s.claims_ttl_ms // 60_000, s.origins["claims.ttl"]) for s in found] == [
        (1, "lineclear.toml"),
        (2, "local.toml"),
        (3, "LINECLEAR_CLAIMS_TTL"),
        (4, "flag"),
    ]


def test_a_file_that_says_nothing_of_a_key_leaves_it_as_it_was() -> None:
    settings = build("[tasks]\nattempts = 5", '[tasks]\nlease = "2m"')
    assert (settings.tasks_attempts, settings.origins["tasks.attempts"]) == (5, "lineclear.toml")


def test_an_empty_variable_counts_as_not_set() -> None:
    settings = build('store.url = "postgresql://h/d"', environ={"LINECLEAR_STORE_URL": ""})
    assert (settings.store_url, settings.origins["store.url"]) == ("postgresql://h/d", "lineclear.toml")


def test_an_empty_flag_empties_a_text() -> None:
    assert build('store.url = "postgresql://h/d"', flags={"store.url": ""}).store_url == ""


def test_a_file_may_begin_with_a_byte_order_mark() -> None:
    assert build("\ufefftasks.attempts = 5").tasks_attempts == 5


# -- values -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "toml", "text", "value"),
    [
        ("repo.id", '"shop"', "shop", "shop"),
        ("store.url", '"postgresql://h/d"', "postgresql://h/d", "postgresql://h/d"),
        ("claims.ttl", '"1h30m"', "1h30m", 5_400_000),
        ("claims.ttl", "90", "90", 90_000),
        ("tasks.attempts", "100", " 100 ", 100),
        ("agents.grace", '"0s"', "0", 0),
        ("operations.keep", '"365d"', "365d", 365 * DAY_MS),
        ("paths.fold_case", "true", "Yes", "true"),
        ("paths.fold_case", "false", "0", "false"),
        ("paths.fold_case", '"auto"', "AUTO", "auto"),
        ("paths.nfc", "false", "off", False),
        ("paths.nfc", "true", "on", True),
        ("resources.schemes", '["gpu", "x-1"]', "gpu, x-1,", ("gpu", "x-1")),
        ("resources.schemes", "[]", ",", ()),
    ],
)
def test_a_value_reads_the_same_from_a_file_a_variable_and_a_flag(
    name: str, toml: str, text: str, value: object
) -> None:
    attribute, variable = SETTINGS[name].attribute, SETTINGS[name].variable
    for settings in (build(f"{name} = {toml}"), build(environ={variable: text}), build(flags={name: text})):
        found = getattr(settings, attribute)
        assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize(
    ("name", "toml"),
    [
        ("repo.id", "1"),
        ("repo.id", f'"{"x" * 201}"'),
        ("repo.id", '"a\\nb"'),
        ("claims.ttl", '"999ms"'),
        ("claims.ttl", '"24h1ms"'),
        ("claims.ttl", '"soon"'),
        ("claims.ttl", "true"),
        ("claims.ttl", "1.5"),
        ("claims.ttl", "-1"),
        ("claims.ttl", "0x" + "f" * 5_000),
        ("claims.ttl", "2026-01-01"),
        ("tasks.attempts", "0"),
        ("tasks.attempts", "101"),
        ("tasks.attempts", "true"),
        ("tasks.attempts", '"5"'),
        ("tasks.lease", '"9s"'),
        ("operations.keep", '"366d"'),
        ("agents.grace", '"11m"'),
        ("agents.silence", '"9s"'),
        ("paths.fold_case", '"true"'),
        ("paths.fold_case", "[]"),
        ("paths.nfc", "1"),
        ("paths.nfc", '"auto"'),
        ("resources.schemes", '"gpu"'),
        ("resources.schemes", '["GPU"]'),
        ("resources.schemes", '["1a"]'),
        ("resources.schemes", '["a b"]'),
        ("resources.schemes", '[""]'),
        ("resources.schemes", "[1]"),
        ("resources.schemes", f'["{"x" * 33}"]'),
        ("resources.schemes", "[" + '"gpu",' * 101 + "]"),
    ],
)
def test_an_unusable_value_is_refused_with_what_is_expected(name: str, toml: str) -> None:
    refusal = refused(team=f"{name} = {toml}")
    assert (refusal.code, refusal.exit_code, refusal.next) == ("settings.value", 2, "lineclear config show")
    assert (refusal.facts["name"], refusal.facts["origin"]) == (name, "lineclear.toml")
    assert refusal.facts["expected"] == expected(SETTINGS[name])


@pytest.mark.parametrize(
    ("name", "text"), [("tasks.attempts", "many"), ("tasks.attempts", "9" * 5_000), ("paths.nfc", "perhaps")]
)
def test_an_unusable_variable_or_flag_is_refused_by_its_name(name: str, text: str) -> None:
    variable = SETTINGS[name].variable
    assert refused(environ={variable: text}).facts["origin"] == variable
    assert refused(flags={name: text}).facts["origin"] == "flag"


def test_bytes_that_are_no_text_are_refused_in_a_variable() -> None:
    assert refused(environ={"LINECLEAR_REPO_ID": "a\udcff"}).code == "settings.value"


def test_a_key_where_a_section_belongs_is_refused() -> None:
    assert str(refused(local="claims = 3")) == (
        "claims (local.toml) has an invalid value: 3.\n"
        "Expected: a section, [claims].\n"
        "Next: run `lineclear config show`."
    )


@pytest.mark.parametrize(
    "pattern", ["/package-lock.json", "../uv.lock", "**/../uv.lock", "a/" * 70 + "uv.lock"]
)
def test_a_pattern_of_lock_files_that_no_path_can_match_is_refused(pattern: str) -> None:
    refusal = refused(team=f"merge.regenerate = ['uv.lock', '{pattern}']")
    assert refusal.code == "settings.value"
    assert refusal.facts["name"] == "merge.regenerate[1]"
    assert refusal.facts["origin"] == "lineclear.toml"
    assert refused(environ={"LINECLEAR_MERGE_REGENERATE": pattern}).facts["name"] == "merge.regenerate[0]"


def test_a_pattern_that_another_source_replaces_is_not_looked_at() -> None:
    settings = build(team="merge.regenerate = ['/uv.lock']", local="merge.regenerate = ['web/']")
    assert settings.merge_regenerate == ("web/",)


# -- unknown things ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("team", "warning"),
    [
        ("[claims]\ntll = 1", 'the key "claims.tll" is unknown and ignored; did you mean "claims.ttl"?'),
        ("[tasks]\nttl = 1", 'the key "tasks.ttl" is unknown and ignored; did you mean "claims.ttl"?'),
        ("attempts = 1", 'the key "attempts" is unknown and ignored; did you mean "tasks.attempts"?'),
        ("[claim]\nttl = 1", 'the section "claim" is unknown and ignored; did you mean "claims"?'),
        ("[zzz]\nttl = 1", 'the section "zzz" is unknown and ignored.'),
        ('[claims]\n"zz\\u001b" = 1', 'the key "claims.zz\ufffd" is unknown and ignored.'),
        (
            strategy("a", more="onwer = 'b'"),
            'the key "strategy.onwer" is unknown and ignored; did you mean "strategy.owner"?',
        ),
    ],
)
def test_an_unknown_key_is_ignored_with_a_suggestion(team: str, warning: str) -> None:
    settings = build(team)
    assert settings.warnings == [f"lineclear.toml: {warning}"]
    assert set(settings.origins.values()) == {"default"}


def test_an_unknown_variable_is_ignored_with_a_suggestion() -> None:
    settings = build(environ={"LINECLEAR_CLAIM_TTL": "1m", "CLAIMS_TTL": "1m", "PATH": "/bin"})
    assert settings.warnings == [
        'environment: the variable "LINECLEAR_CLAIM_TTL" is unknown and ignored; '
        'did you mean "LINECLEAR_CLAIMS_TTL"?'
    ]


def test_variables_that_are_no_settings_are_left_alone() -> None:
    assert build(environ={f"LINECLEAR_{name}": "x" for name in OTHER_VARIABLES}).warnings == []


def test_an_unknown_flag_is_refused() -> None:
    refusal = refused(flags={"claims.tll": "1m"})
    assert str(refusal) == (
        'There is no setting "claims.tll"; did you mean "claims.ttl"?\nNext: run `lineclear config show`.'
    )


def test_warnings_are_not_endless() -> None:
    warnings = build("\n".join(f"k{number} = 1" for number in range(1_000))).warnings
    assert len(warnings) == MAX_WARNINGS + 1
    assert warnings[-1] == "There are more warnings, not shown."


# -- broken files -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"[claims]\nttl 3", 2),
        (b"[claims]\nttl = ", 2),
        (b"a = 1\n\na = 2", 3),
        (b"a = 1\nb = '\xff'", 2),
        (b"a = 1\n" + b"b." * 200 + b"b = 1", 2),
        (b"a = " + b"[" * 100_000, 0),
        (b"a = " + b"1" * 10_000, 0),
    ],
)
def test_a_broken_file_is_refused_with_its_line(data: bytes, line: int) -> None:
    with pytest.raises(Refusal) as caught:
        build_settings(local=data, environ={})
    refusal = caught.value
    assert (refusal.code, refusal.exit_code, refusal.facts["line"]) == ("settings.syntax", 2, line)
    assert refusal.facts["origin"] == "local.toml"
    assert ("local.toml" if line == 0 else f"line {line} of local.toml") in refusal.what


def test_a_key_of_as_many_parts_as_may_be_is_only_unknown() -> None:
    assert len(build("a." * MAX_DOTS_IN_LINE + "a = 1").warnings) == 1


def test_a_file_that_is_too_large_is_refused() -> None:
    assert refused(team="#" * (MAX_FILE_BYTES + 1)).code == "settings.size"
    assert build("#" * MAX_FILE_BYTES).warnings == []


# -- strategies -------------------------------------------------------------------------------


def test_strategies_keep_their_order_and_the_clones_own_come_last() -> None:
    team = strategy("src/") + strategy("docs/plan.md", "single-writer", "owner = 'lead/writer'")
    rules = build(team, strategy("**/*.sql", "read-only")).rules
    assert [(rule.resource.text, rule.strategy, rule.owner, rule.origin) for rule in rules] == [
        ("file:src/", "locked", "", "lineclear.toml, strategy 1"),
        ("file:docs/plan.md", "single-writer", "lead/writer", "lineclear.toml, strategy 2"),
        ("file:**/*.sql", "read-only", "", "local.toml, strategy 1"),
    ]


def test_a_match_ending_with_a_slash_is_a_directory() -> None:
    kinds = [rule.resource.kind for rule in build(strategy("src/") + strategy("src") + strategy("s*")).rules]
    assert kinds == ["dir", "file", "glob"]


def test_a_match_may_use_a_scheme_that_another_file_declares() -> None:
    team = strategy("gpu:0")
    assert build(team, 'resources.schemes = ["gpu"]').rules[0].resource.text == "gpu:0"
    assert "gpu" in refused(team=team).facts["reason"]


@pytest.mark.parametrize(
    ("setting", "folds_case", "text"),
    [
        ('"auto"', False, "file:README"),
        ('"auto"', True, "file:readme"),
        ("true", False, "file:readme"),
        ("false", True, "file:README"),
    ],
)
def test_a_match_folds_case_as_paths_do(setting: str, folds_case: bool, text: str) -> None:
    team = f"paths.fold_case = {setting}\n{strategy('README')}"
    assert build(team, folds_case=folds_case).rules[0].resource.text == text


def test_a_match_is_spelled_in_one_unicode_form_unless_told_otherwise() -> None:
    team = strategy("e\u0301.md")
    assert build(team).rules[0].resource.text == "file:\u00e9.md"
    assert build("paths.nfc = false\n" + team).rules[0].resource.text == "file:e\u0301.md"


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ("strategy = 'locked'", "match is missing"),
        ("match = 1\nstrategy = 'locked'", "match is missing"),
        ("match = 'a'", "strategy is not one of"),
        ("match = 'a'\nstrategy = 'lock'", "strategy is not one of isolated, single-writer"),
        ("match = 'a'\nstrategy = ['locked']", "strategy is not one of"),
        ("match = ''\nstrategy = 'locked'", "match is wrong"),
        ("match = '/a'\nstrategy = 'locked'", "it is absolute"),
        ("match = '../a'\nstrategy = 'locked'", "it climbs above its root"),
        ("match = 'a'\nstrategy = 'locked'\nowner = 'b'", "only single-writer"),
        ("match = 'a'\nstrategy = 'single-writer'\nowner = 1", "owner is not"),
        ("match = 'a'\nstrategy = 'single-writer'\nowner = 'a b'", "owner is wrong"),
    ],
)
def test_an_unusable_strategy_is_refused_by_its_number(entry: str, reason: str) -> None:
    refusal = refused(team=f"{strategy('ok')}[[strategy]]\n{entry}")
    assert (refusal.code, refusal.exit_code, refusal.next) == (
        "settings.strategy",
        2,
        "lineclear config show",
    )
    assert (refusal.facts["number"], refusal.facts["origin"]) == (2, "lineclear.toml")
    assert reason in refusal.facts["reason"]


@pytest.mark.parametrize(
    ("team", "code"),
    [
        ("strategy = 1", "settings.value"),
        ("[strategy]\nmatch = 'a'", "settings.value"),
        ("strategy = [1]", "settings.strategy"),
    ],
)
def test_a_strategy_that_is_no_entry_of_its_own_is_refused(team: str, code: str) -> None:
    refusal = refused(team=team)
    assert refusal.code == code
    assert "begin" in str(refusal)
    assert "[[strategy]]" in str(refusal)


def test_both_files_together_have_at_most_so_many_strategies() -> None:
    team = strategy("a") * (MAX_STRATEGIES - 1)
    assert len(build(team, strategy("b")).rules) == MAX_STRATEGIES
    refusal = refused(team=team, local=strategy("b") * 2)
    assert (refusal.code, refusal.facts["origin"]) == ("settings.strategies", "local.toml")


# -- secrets ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("", ""),
        ("postgresql://db.example/work", "postgresql://db.example/work"),
        ("postgresql://db.example:5432/work?a=b&c=d", "postgresql://db.example:5432/work?a=b&c=d"),
        ("postgresql://ada@db.example/work", "postgresql://ada@db.example/work"),
        (URL, "postgresql://ada:***@db.example/work"),
        ("postgresql://ada:a@b/c?d@db.example/work", "postgresql://ada:***@db.example/work"),
        (
            "postgresql://h/d?user=a&password=b&sslpassword=c",
            "postgresql://h/d?user=a&password=***&sslpassword=***",
        ),
        ("postgresql://h/d?passfile=/p", "postgresql://h/d?passfile=/p"),
        ("host=h password=b", "***"),
        ("ada:b@h", "***"),
    ],
)
def test_only_the_password_of_a_url_is_hidden(url: str, shown: str) -> None:
    assert redact(url) == shown


def test_a_password_is_warned_of_in_the_committed_file_only() -> None:
    text = f'store.url = "{URL}"'
    assert build(local=text).warnings == []
    (warning,) = build(text).warnings
    assert warning == "lineclear.toml: store.url holds a password; move it to .git/lineclear/local.toml."


@pytest.mark.parametrize("toml", [f'["{URL}"]', f'"{URL}\\n"', f'"{URL}'])
def test_no_refusal_tells_a_password(toml: str) -> None:
    refusal = refused(team=f"store.url = {toml}")
    assert PASSWORD not in f"{refusal} {refusal.as_data()}"


def test_no_refusal_tells_the_password_of_a_variable() -> None:
    refusal = refused(environ={"LINECLEAR_STORE_URL": URL + "\n"})
    assert PASSWORD not in f"{refusal} {refusal.as_data()}"


# -- showing ----------------------------------------------------------------------------------


def test_every_setting_is_shown_as_it_would_be_written_and_without_secrets() -> None:
    settings = build(
        f'store.url = "{URL}"\nresources.schemes = ["gpu"]',
        strategy("docs/plan.md", "single-writer", "owner = 'writer'") + strategy("a"),
        {"LINECLEAR_CLAIMS_TTL": "90m"},
    )
    shown = show(settings)
    assert [entry["name"] for entry in shown[: len(SETTINGS)]] == list(SETTINGS)
    assert all(set(entry) == {"name", "value", "origin", "about"} and entry["about"] for entry in shown)
    facts = {entry["name"]: (entry["value"], entry["origin"]) for entry in shown}
    assert facts["store.url"] == ("postgresql://ada:***@db.example/work", "lineclear.toml")
    assert facts["claims.ttl"] == ("1h30m", "LINECLEAR_CLAIMS_TTL")
    assert facts["operations.keep"] == ("24h", "default")
    assert facts["tasks.attempts"] == (3, "default")
    assert facts["paths.nfc"] == (True, "default")
    assert facts["resources.schemes"] == (["gpu"], "lineclear.toml")
    assert facts["strategy file:docs/plan.md"] == ("single-writer, owner writer", "local.toml, strategy 1")
    assert facts["strategy file:a"] == ("locked", "local.toml, strategy 2")
    assert PASSWORD not in str(shown)


@pytest.mark.parametrize(
    ("duration_ms", "text"),
    [(0, "0s"), (1, "1ms"), (90_000, "1m30s"), (DAY_MS, "24h"), (DAY_MS + 1, "24h1ms"), (2 * DAY_MS, "2d")],
)
def test_a_duration_is_written_in_few_units(duration_ms: int, text: str) -> None:
    assert write_duration(duration_ms) == text


@given(st.integers(0, LONGEST_MS))
def test_a_written_duration_reads_back_as_the_same(duration_ms: int) -> None:
    assert parse_duration(write_duration(duration_ms)) == duration_ms


# -- whatever the file holds ------------------------------------------------------------------

VALUES = st.sampled_from(
    [
        *(
            '"1h"',
            "true",
            "3",
            "1.5",
            "[]",
            "['gpu']",
            "{}",
            "{a = {b = 1}}",
            "1979-05-27",
            "07:32:00",
            "inf",
        ),
        *("0x" + "f" * 5_000, '"""x\ny"""', "'src/'", "'**/*.py'", "'gpu:0'", "'single-writer'", "'locked'"),
    ]
)
NAMES = [
    *(*SETTINGS, "strategy", "match", "strategy.match", "owner", "claims", "claims.ttl.more", "x", '"a b"'),
    *("workers", "workers.a", "workers.a.count", "workers.a.env", "workers.a.env.B", "workers.all", "prices"),
    *("prices.a", "prices.a.input", "prices.a.output", "worktrees.env", "worktrees.env.A_TOKEN"),
    *("checks.paths", "checks.paths.match", "checks.paths.command"),
]
LINES = st.one_of(
    st.builds("{} = {}".format, st.sampled_from(NAMES), VALUES),
    st.sampled_from([f"[{name}]" for name in NAMES] + [f"[[{name}]]" for name in NAMES]),
    st.builds(strategy, st.text(max_size=12), st.sampled_from(["locked", "single-writer", "x"])),
    st.text(max_size=8),
)
FILES = st.binary(max_size=200) | st.lists(LINES, max_size=8).map(
    lambda lines: "\n".join(lines).encode(errors="surrogateescape")
)


@given(FILES, FILES)
@example(b"a=" + b"{a=" * 50_000, b"")
@example(b"a." * 100 + b"a=1", b"claims.ttl=" + b"[" * 200 + b"]" * 200)
@example(b"\x00", b"\xef\xbb\xbf")
def test_any_bytes_as_files_give_settings_or_a_refusal(team: bytes, local: bytes) -> None:
    try:
        settings = build_settings(team=team, local=local, environ={})
    except Refusal as refusal:
        assert refusal.code.startswith("settings.")
        assert len(str(refusal)) <= 300
        assert len(str(refusal).splitlines()) <= 3
        assert refusal.next == "lineclear config show"
        return
    assert len(show(settings)) >= len(SETTINGS) + len(settings.rules) + len(settings.workers)
    assert all("\n" not in warning and len(warning) <= 200 for warning in settings.warnings)


@given(st.sampled_from(list(SETTINGS)), st.text(st.characters(exclude_categories=()), max_size=30))
def test_any_text_as_a_variable_or_flag_gives_settings_or_a_refusal(name: str, text: str) -> None:
    for environ, flags in (({SETTINGS[name].variable: text}, {}), ({}, {name: text})):
        try:
            build_settings(environ=environ, flags=flags)
        except Refusal as refusal:
            assert refusal.code == "settings.value"
            assert len(str(refusal)) <= 300


# -- the words --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("refusal", "code", "exit_code", "text"),
    [
        (
            refuse(
                "settings.value",
                origin="lineclear.toml",
                name="claims.ttl",
                given='"soon"',
                expected=expected(SETTINGS["claims.ttl"]),
            ),
            "settings.value",
            2,
            'claims.ttl (lineclear.toml) has an invalid value: "soon".\n'
            'Expected: a duration from 1s to 24h, like "90s" or "1h30m".',
        ),
        (
            refuse(
                "settings.strategy", origin="lineclear.toml", number=3, reason="owner is not an agent's name"
            ),
            "settings.strategy",
            2,
            "[[strategy]] number 3 in lineclear.toml is not valid.\nIts owner is not an agent's name.",
        ),
        (
            refuse("settings.strategies", origin="local.toml", most=1_000),
            "settings.strategies",
            2,
            "local.toml has too many [[strategy]] entries.\n"
            "At most 1000 are allowed in all files together; one glob can cover many paths.",
        ),
        (
            broken_settings("lineclear.toml", 7, "Invalid value"),
            "settings.syntax",
            2,
            "Cannot read the settings: line 7 of lineclear.toml is not valid.\n"
            "The parser says: Invalid value.",
        ),
        (
            broken_settings("lineclear.toml", 0, "it is nested too deeply"),
            "settings.syntax",
            2,
            "Cannot read the settings: lineclear.toml is not valid.\n"
            "The parser says: it is nested too deeply.",
        ),
        (
            settings_too_large("lineclear.toml", 262_144),
            "settings.size",
            2,
            "lineclear.toml is too large: the limit is 256 KiB.",
        ),
        (
            refuse("settings.unreadable", origin="local.toml", path="/a/local.toml", why="Permission denied"),
            "settings.unreadable",
            1,
            "local.toml exists but cannot be read: Permission denied.\nIt is /a/local.toml",
        ),
        (
            refuse("settings.unknown", name="claims", hint="."),
            "settings.unknown",
            2,
            'There is no setting "claims".',
        ),
    ],
)
def test_what_is_said(refusal: Refusal, code: str, exit_code: int, text: str) -> None:
    assert (refusal.code, refusal.exit_code) == (code, exit_code)
    assert str(refusal) == f"{text}\nNext: run `lineclear config show`."


@pytest.mark.parametrize(
    "refusal",
    [
        refuse(
            "settings.value",
            origin="LINECLEAR_RESOURCES_SCHEMES",
            name="resources.schemes",
            given="x" * 500,
            expected="y" * 500,
        ),
        refuse("settings.strategy", origin="lineclear.toml", number=1_000, reason="x" * 500),
        broken_settings("lineclear.toml", 262_144, "x" * 500),
        refuse("settings.unreadable", origin="lineclear.toml", path="x" * 500, why="y" * 500),
        refuse("settings.unknown", name="x" * 500, hint="y" * 500),
    ],
)
def test_long_words_do_not_make_long_refusals(refusal: Refusal) -> None:
    assert len(str(refusal)) <= 300
