"""coordination.json: a stable order, a version, bounds."""

from __future__ import annotations

import json

from lineclear.core.claims.coordination import MOST_ROWS, SCHEMA, write_coordination


def test_the_same_facts_give_the_same_bytes() -> None:
    rows = [{"resource": name, "agent": "ada"} for name in ("file:b", "file:a")]
    one = write_coordination({"claims": rows})
    assert one == write_coordination({"claims": rows[::-1]})
    document = json.loads(one)
    assert document["schema"] == SCHEMA
    assert [row["resource"] for row in document["claims"]] == ["file:a", "file:b"]
    assert (document["agents"], document["left_out"]) == ([], {})


def test_what_is_too_much_is_counted() -> None:
    rows = [{"name": f"a{number:05}"} for number in range(MOST_ROWS + 7)]
    document = json.loads(write_coordination({"agents": rows}))
    assert len(document["agents"]) == MOST_ROWS
    assert document["left_out"] == {"agents": 7}
