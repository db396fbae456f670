"""Set-up of Grok Build."""

from __future__ import annotations

import tomllib

from lineclear.clients.registry import setup_of
from tests.unit.clients.setup_cases import BEFORE, HOME, ROOT, carried_out, find, install, on_disk


def test_grok_forgets_our_trust_also_where_it_has_written_the_file_again() -> None:
    path = f"{HOME}/.grok/trusted_folders.toml"
    plan, after = install("grok", on_disk(BEFORE["grok"]))
    assert tomllib.loads(after[path].decode())["folders"][ROOT] == {"trusted": True}
    theirs = b'[folders."/srv/other"]\ntrusted = true\n'
    more = b'\n[folders."/srv/more"]\ntrusted = true\ndecided_at = 1\n'
    again = theirs + b'\n[folders."/srv/shop"]\ntrusted = true\n' + more
    rewritten = after | {path: again}
    same, disk = install("grok", rewritten, plan.record)
    assert (same.changes, disk) == ([], rewritten)
    removed = carried_out(setup_of("grok").plan_remove(find("grok", disk, same.record)), disk)
    assert removed[path] == theirs + more


def test_a_folder_that_grok_was_told_not_to_trust_is_left_so_and_said() -> None:
    path = f"{HOME}/.grok/trusted_folders.toml"
    disk = on_disk({path: f'[folders."{ROOT}"]\ntrusted = false\n'})
    plan, after = install("grok", disk)
    assert after[path] == disk[path]
    assert any("set not to trust" in note for note in plan.notes)
