"""Set-up of Kimi Code."""

from __future__ import annotations

import tomllib
from dataclasses import replace

from lineclear.app.setup.plan import SetupFacts
from lineclear.clients.registry import setup_of
from tests.unit.clients.setup_cases import BEFORE, HOME, TOML, Files, carried_out, find, install, on_disk


def kimi_trust(disk: Files) -> str:
    (path,) = [path for path in disk if "/workspace-trust/" in path]
    return path


def test_a_folder_that_the_user_trusts_in_kimi_stays_trusted() -> None:
    plan, after = install("kimi", {})
    path = kimi_trust(after)
    theirs = {path: b'{"root": "/srv/shop", "trustedAt": 17}'}
    for record, disk in (({}, theirs), (plan.record, after | theirs)):
        again, then = install("kimi", disk, record)
        assert then[path] == theirs[path]
        assert not [note for note in again.notes if "to trust" in note]
        removed = setup_of("kimi").plan_remove(find("kimi", then, again.record))
        assert carried_out(removed, then)[path] == theirs[path]


def test_without_the_server_kimi_needs_no_trust_and_what_we_gave_is_taken_back() -> None:
    plan, after = install("kimi", {})
    facts = find("kimi", after, plan.record)
    bare = setup_of("kimi").plan_install(replace(facts, has_server=False))
    disk = carried_out(bare, after)
    assert kimi_trust(after) not in disk
    assert carried_out(setup_of("kimi").plan_remove(find("kimi", disk, bare.record)), disk) == {}


def test_two_repositories_have_blocks_of_their_own_in_the_settings_of_kimi() -> None:
    config = f"{HOME}/.kimi-code/config.toml"
    one, disk = install("kimi", on_disk(BEFORE["kimi"]))
    other = SetupFacts(
        "/srv/other", home=HOME, stub="/srv/other/.git/lineclear/hook", files={config: disk[config]}
    )
    both = carried_out(setup_of("kimi").plan_install(other), disk)
    left = carried_out(setup_of("kimi").plan_remove(find("kimi", both, one.record)), both)
    text = left[config].decode()
    assert ("kimi in /srv/other: begin" in text, "kimi in /srv/shop: begin" in text) == (True, False)


def test_what_kimi_has_written_anew_without_comments_is_known_by_its_command() -> None:
    config = f"{HOME}/.kimi-code/config.toml"
    plan, disk = install("kimi", on_disk(BEFORE["kimi"]))
    bare = b"".join(line for line in disk[config].splitlines(keepends=True) if not line.startswith(b"#"))
    anew = disk | {config: bare}
    left = carried_out(setup_of("kimi").plan_remove(find("kimi", anew, plan.record)), anew)
    said = tomllib.loads(left[config].decode())
    assert said == tomllib.loads(TOML)
