"""What only breaks when work is combined: the plan for two sides that git merges silently."""

from __future__ import annotations

import pytest

from lineclear.merge.across_files import TreeFacts, TreePlan, can_meet, merge_trees


def plan_for(
    left: dict[str, str],
    right: dict[str, str],
    base: dict[str, str] | None = None,
    paths: set[str] | None = None,
) -> TreePlan:
    before = base or {}
    facts = TreeFacts(
        left_added={path for path in left if path not in before},
        right_added={path for path in right if path not in before},
        base_texts=before,
        left_texts=left,
        right_texts=right,
        paths={*(paths or set()), *left, *right, *before},
    )
    plan = merge_trees(facts)
    if plan.renames or plan.rewrites or plan.commands or plan.findings:
        assert can_meet(facts.left_added, left, before), "the right side would not have been looked at"
        assert can_meet(facts.right_added, right, before), "the left side would not have been looked at"
    return plan


def test_work_that_names_nothing_meets_nothing() -> None:
    before = {"app.py": "x = 1\n", "style.css": ".a { }\n"}
    texts = {"app.py": "x = 2\n", "style.css": ".a { color: red }\n", "new.py": "y = 1\n"}
    assert not can_meet({"new.py"}, texts, before)
    assert can_meet({"new.py"}, texts | {"new.py": '@app.route("/x")\n'}, before)
    assert can_meet(set(), {"yarn.lock": "x"}, {"yarn.lock": "y"})


@pytest.mark.parametrize(
    ("left", "right", "new"),
    [
        ("db/migrate/012_tug.rb", "db/migrate/012_ferry.rb", "db/migrate/013_ferry.rb"),
        ("sql/V7__tug.sql", "sql/V7__ferry.sql", "sql/V8__ferry.sql"),
        ("migrations/0003_tug.sql", "migrations/0003_ferry.sql", "migrations/0004_ferry.sql"),
        (
            "migrations/20260101120000_tug.js",
            "migrations/20260101120000_ferry.js",
            "migrations/20260101120001_ferry.js",
        ),
        (
            "db/migrations/000012_tug.up.sql",
            "db/migrations/000012_ferry.up.sql",
            "db/migrations/000013_ferry.up.sql",
        ),
    ],
)
def test_the_later_branch_gets_the_next_number(left: str, right: str, new: str) -> None:
    plan = plan_for({left: "x"}, {right: "y"})
    assert plan.renames == [(right, new)]
    assert plan.rewrites == [(new, "y")]


def test_both_files_of_one_migration_move_together() -> None:
    right = {"migrations/000002_b.up.sql": "u", "migrations/000002_b.down.sql": "d"}
    plan = plan_for({"migrations/000002_a.up.sql": "x", "migrations/000002_a.down.sql": "x"}, right)
    assert sorted(new for _, new in plan.renames) == [
        "migrations/000003_b.down.sql",
        "migrations/000003_b.up.sql",
    ]


def test_numbers_that_are_taken_already_are_not_given_again() -> None:
    plan = plan_for({"sql/V7__tug.sql": ""}, {"sql/V7__ferry.sql": ""}, paths={"sql/V8__later.sql"})
    assert plan.renames == [("sql/V7__ferry.sql", "sql/V9__ferry.sql")]


def test_different_numbers_stay_as_they_are() -> None:
    plan = plan_for({"sql/V7__tug.sql": ""}, {"sql/V8__ferry.sql": ""})
    assert (plan.renames, plan.rewrites, plan.findings) == ([], [], [])


def test_the_same_migration_on_both_sides_is_no_collision() -> None:
    assert plan_for({"sql/V7__tug.sql": "x"}, {"sql/V7__tug.sql": "x"}).renames == []


def revision(own: str, parent: str) -> str:
    return f'"""m\n\nRevises: {parent}\n"""\nrevision = "{own}"\ndown_revision = "{parent}"\n'


def test_alembic_the_right_branch_follows_the_left_head() -> None:
    left = {
        "alembic/versions/b1_x.py": revision("b1", "a0"),
        "alembic/versions/b2_x.py": revision("b2", "b1"),
    }
    right = {
        "alembic/versions/c1_x.py": revision("c1", "a0"),
        "alembic/versions/c2_x.py": revision("c2", "c1"),
    }
    plan = plan_for(left, right)
    assert plan.renames == []
    assert plan.rewrites == [("alembic/versions/c1_x.py", revision("c1", "b2"))]


def test_alembic_two_heads_on_one_side_are_left_to_people() -> None:
    left = {"alembic/versions/b1.py": revision("b1", "a0"), "alembic/versions/b2.py": revision("b2", "a0")}
    plan = plan_for(left, {"alembic/versions/c1.py": revision("c1", "a0")})
    assert plan.rewrites == []
    assert "alembic merge heads" in plan.findings[0].text


def django(*parents: str) -> str:
    rows = ", ".join(f'("port", "{parent}")' for parent in parents)
    return f"class Migration(migrations.Migration):\n    dependencies = [{rows}]\n"


def test_django_a_chain_is_renumbered_and_hung_on_the_left_head() -> None:
    left = {"port/migrations/0002_a.py": django("0001_initial")}
    right = {
        "port/migrations/0002_b.py": django("0001_initial"),
        "port/migrations/0003_c.py": django("0002_b"),
    }
    plan = plan_for(left, right)
    assert dict(plan.rewrites) == {
        "port/migrations/0003_b.py": django("0002_a"),
        "port/migrations/0004_c.py": django("0003_b"),
    }


def test_django_a_migration_with_two_parents_is_left_to_people() -> None:
    left = {"port/migrations/0002_a.py": django("0001_initial")}
    plan = plan_for(left, {"port/migrations/0002_b.py": django("0001_initial", "0001_other")})
    assert plan.rewrites == []
    assert "makemigrations --merge" in plan.findings[0].text


def test_one_selector_with_two_bodies_is_reported() -> None:
    base = {"a.css": ".old { x: 1 }\n"}
    left, right = {"a.css": base["a.css"] + ".new { x: 1 }\n"}, {"a.css": ".new { x: 2 }\n" + base["a.css"]}
    plan = plan_for(left, right, base)
    assert [(finding.kind, finding.paths) for finding in plan.findings] == [("selector", ["a.css"])]


def test_an_edit_beside_an_addition_is_no_second_selector() -> None:
    base = {"a.css": ".old { x: 1 }\n"}
    assert (
        plan_for({"a.css": ".old { x: 2 }\n"}, {"a.css": ".old { x: 1 }\n.b { y: 1 }\n"}, base).findings == []
    )


SPRING = 'class Ships {{ @GetMapping("/ships") String {target}() {{}} }}\n'


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.py", '@bay.get("/ships")\ndef {target}(): ...\n'),
        ("urls.py", 'path("ships/", {target}),\n'),
        ("r.js", 'router.post("/ships", {target})\n'),
        ("R.java", SPRING),
    ],
)
def test_one_route_with_two_targets_in_one_file_is_reported(name: str, text: str) -> None:
    ours, theirs = text.format(target="load"), text.format(target="unload")
    plan = plan_for({name: ours}, {name: theirs}, {name: "# none\n"})
    assert [finding.kind for finding in plan.findings] == ["route"]
    assert plan_for({name: ours}, {name: ours}, {name: "# none\n"}).findings == []
    assert plan_for({f"one/src/{name}": ours}, {f"two/src/{name}": theirs}).findings == []


def test_one_route_of_two_controllers_is_reported() -> None:
    ours, theirs = SPRING.format(target="load"), SPRING.format(target="unload")
    plan = plan_for({"src/A.java": ours}, {"src/B.java": theirs})
    assert [finding.paths for finding in plan.findings] == [["src/A.java", "src/B.java"]]


def test_one_route_of_the_app_itself_in_two_files_is_reported() -> None:
    line = '@app.get("/ships")\n'
    plan = plan_for({"one.py": line}, {"two.py": line})
    assert [finding.paths for finding in plan.findings] == [["one.py", "two.py"]]


def test_scoped_style_sheets_may_share_names() -> None:
    assert plan_for({"a.module.css": ".x { a: 1 }"}, {"b.module.css": ".x { a: 2 }"}).findings == []


PRISMA = "prisma/migrations/{}_{}/migration.sql"


def test_a_prisma_migration_older_than_the_other_sides_moves_behind_it() -> None:
    ours = {PRISMA.format("20240501120000", "add_users"): "create table users();"}
    theirs = {
        PRISMA.format("20240430090000", "add_orders"): "create table orders();",
        PRISMA.format("20240601120000", "add_items"): "create table items();",
    }
    plan = plan_for(ours, theirs)
    assert plan.renames == [
        (PRISMA.format("20240430090000", "add_orders"), PRISMA.format("20240501120001", "add_orders"))
    ]
    assert plan.commands == ["npx prisma migrate dev"]


def test_a_prisma_migration_newer_than_the_other_sides_stays() -> None:
    ours = {PRISMA.format("20240501120000", "add_users"): "x"}
    theirs = {PRISMA.format("20240601120000", "add_items"): "y"}
    assert plan_for(ours, theirs).renames == []


CHANGE_SETS = {
    "db.changelog.xml": '  <changeSet id="{id}" author="ann"><sql>{sql}</sql></changeSet>\n',
    "db.changelog.yaml": "  - changeSet:\n      id: {id}\n      author: ann\n      sql: {sql}\n",
    "db.changelog.sql": "--changeset ann:{id}\n{sql}\n",
    "db.changelog.json": '  {{"changeSet": {{"id": "{id}", "author": "ann", "sql": "{sql}"}}}},\n',
}


@pytest.mark.parametrize("name", sorted(CHANGE_SETS))
def test_one_liquibase_change_set_with_two_bodies_in_one_file_is_found(name: str) -> None:
    path, row = f"db/{name}", CHANGE_SETS[name]
    base = row.format(id=1, sql="one")
    left, right = base + row.format(id=2, sql="two"), base + row.format(id=2, sql="three")
    (finding,) = plan_for({path: left}, {path: right}, {path: base}).findings
    assert finding.text.startswith("change set 2 of ann is defined by both sides")
    other = base + row.format(id=3, sql="three")
    assert plan_for({path: left}, {path: other}, {path: base}).findings == []
    assert plan_for({path: left}, {f"db/other-{name}": right}).findings == []


def test_a_lock_file_that_both_sides_changed_is_to_be_made_anew() -> None:
    base, ours, theirs = {"web/yarn.lock": "a"}, {"web/yarn.lock": "b"}, {"web/yarn.lock": "c"}
    assert plan_for(ours, theirs, base).commands == ["(cd web && yarn install)"]
    assert plan_for(ours, ours, base).commands == []
