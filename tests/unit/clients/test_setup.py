"""Set-up of every client on files that already hold the user's own hooks and settings: in, again, out."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping

import pytest

from lineclear.clients.codex.setup import hook_hash
from lineclear.clients.setup.registry import CLIENTS, setup_of
from lineclear.clients.setup_plan import CannotSetUp, Change, Found, Plan

ROOT, HOME = "/srv/shop", "/home/sam"
STUB = "/srv/shop/.git/lineclear/hook"

GROUPS = (
    '{\n\t// mine, and it stays\n\t"theme": "dark",\n\t"hooks": {\n\t\t"PreToolUse": [\n'
    '\t\t\t{"matcher": "Bash", "hooks": [{"type": "command", "command": "./mine.sh"}]}, // first\n'
    '\t\t],\n\t\t"Stop": []\n\t}\n}\n'
)
GEMINI = (
    '{"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "./mine.sh"}]}]},\r\n  "ui": {}}'
)
CURSOR = '{\n  "version": 1,\n  "hooks": {\n    "stop": [{ "command": "./mine.sh" }]\n  }\n}'
DROID = (
    '{"PostToolUse": [\n  {"matcher": "Read", "hooks": [{"type": "command", "command": "./mine.sh"}]}\n]}\n'
)
GROK_FOLDERS = '# mine\n[folders."/srv/other"]\ntrusted = true\n'
CODEX_TOML = 'model = "x"  # mine\n\n[projects."/srv/other"]\ntrust_level = "untrusted"'
TOML = CODEX_TOML + '\n[[hooks]]\nevent = "Stop"\ncommand = "true"'

# What the user has in the client's files before.
BEFORE: dict[str, dict[str, str]] = {
    "claude": {f"{ROOT}/.claude/settings.local.json": GROUPS},
    "codex": {f"{ROOT}/.codex/hooks.json": GROUPS, f"{HOME}/.codex/config.toml": CODEX_TOML},
    "gemini": {
        f"{ROOT}/.gemini/settings.json": GEMINI,
        f"{HOME}/.gemini/trustedFolders.json": '{"/srv/other": "DO_NOT_TRUST"}',
    },
    "qwen": {f"{ROOT}/.qwen/settings.json": GROUPS},
    "opencode": {},
    "cursor": {f"{ROOT}/.cursor/hooks.json": CURSOR},
    "copilot": {
        f"{HOME}/.copilot/config.json": '// managed\n{\n  "trustedFolders": [\n    "/srv/other"\n  ]\n}\n'
    },
    "droid": {
        f"{ROOT}/.factory/settings.json": GROUPS,
        f"{ROOT}/.factory/hooks.json": DROID,
        f"{ROOT}/.factory/mcp.json": '{"mcpServers": {"mine": {"command": "mine"}}}',
    },
    "grok": {
        f"{ROOT}/.grok/config.toml": '[mcp_servers.mine]\ncommand = "mine"\n',
        f"{HOME}/.grok/trusted_folders.toml": GROK_FOLDERS,
    },
    "kimi": {f"{HOME}/.kimi-code/config.toml": TOML},
    "cline": {f"{ROOT}/.clinerules/hooks/PreToolUse": "#!/bin/sh\nexit 0\n"},
    "goose": {},
    "aider": {f"{ROOT}/.aider.conf.yml": "# mine\nmodel: x\n"},
}
Files = dict[str, bytes]


def on_disk(texts: Mapping[str, str]) -> Files:
    return {path: text.encode() for path, text in texts.items()}


def find(
    name: str, disk: Files, record: Mapping[str, object] | None = None, shared: tuple[str, ...] = ()
) -> Found:
    found = Found(ROOT, home=HOME, stub=STUB, record=record or {}, shared=shared, has_server=True)
    found.files = {path: disk.get(path) for path in setup_of(name).files(found)}
    return found


def carried_out(plan: Plan, disk: Files) -> Files:
    after = dict(disk)
    for change in plan.changes:
        assert isinstance(change, Change)
        assert after.get(change.path) == change.before
        after.pop(change.path, None)
        if change.after is not None:
            after[change.path] = change.after
    return after


def install(
    name: str, disk: Files, record: Mapping[str, object] | None = None, **more: tuple[str, ...]
) -> tuple[Plan, Files]:
    plan = setup_of(name).plan_install(find(name, disk, record, **more))
    return plan, carried_out(plan, disk)


def test_every_client_has_a_case() -> None:
    assert set(BEFORE) == set(CLIENTS)


@pytest.mark.parametrize("name", CLIENTS)
@pytest.mark.parametrize("has_own", [True, False], ids=["own settings", "nothing yet"])
def test_in_again_and_out_leaves_every_byte(name: str, has_own: bool) -> None:
    disk = on_disk(BEFORE[name]) if has_own else {}
    plan, after = install(name, disk)
    assert after != disk
    again, same = install(name, after, plan.record)
    assert (again.changes, same) == ([], after)
    assert again.record == plan.record
    removed = setup_of(name).plan_remove(find(name, after, plan.record))
    assert carried_out(removed, after) == disk


@pytest.mark.parametrize("name", CLIENTS)
def test_what_the_user_adds_meanwhile_stays(name: str) -> None:
    disk = on_disk(BEFORE[name])
    plan, after = install(name, disk)
    added = {path: data.replace(b"mine", b"still mine") for path, data in after.items() if path in disk}
    edited = after | added
    removed = carried_out(setup_of(name).plan_remove(find(name, edited, plan.record)), edited)
    assert removed == {path: data.replace(b"mine", b"still mine") for path, data in disk.items()}


@pytest.mark.parametrize("name", ["claude", "codex", "gemini", "qwen", "droid", "cursor", "copilot", "grok"])
def test_without_a_record_ours_is_still_known_by_its_command(name: str) -> None:
    disk = on_disk(BEFORE[name])
    _, after = install(name, disk)
    _, again = install(name, after)
    for path in after:
        assert again[path].count(b"lineclear/hook") >= 1 or not path.startswith(ROOT)
        assert again[path].count(b'"matcher"') == after[path].count(b'"matcher"')
        assert again[path].count(f" {name} ".encode()) == after[path].count(f" {name} ".encode())


@pytest.mark.parametrize(
    "name", ["claude", "codex", "gemini", "qwen", "droid", "cursor", "copilot", "grok", "kimi"]
)
def test_settings_that_cannot_be_read_are_refused(name: str) -> None:
    found = find(name, {})
    path = setup_of(name).files(found)[0]
    for broken in (b'{"hooks": [', b'{"hooks": 3, "a" 1}', b"\xff\xfe{}"):
        with pytest.raises(CannotSetUp):
            setup_of(name).plan_install(find(name, {path: broken}))


@pytest.mark.parametrize(
    "name", ["codex", "gemini", "qwen", "droid", "cursor", "copilot", "grok", "opencode", "cline"]
)
def test_a_file_that_git_tracks_gets_no_path_of_this_machine(name: str) -> None:
    paths = tuple(path for path in setup_of(name).files(find(name, {})) if path.startswith(ROOT))
    _, local = install(name, {})
    _, shared = install(name, {}, shared=paths)
    for path in local.keys() & set(paths):
        assert STUB.encode() in local[path]
        assert ROOT.encode() not in shared[path]
        assert b"lineclear/hook" in shared[path]


def test_a_users_own_handler_in_our_group_stays() -> None:
    path = f"{ROOT}/.qwen/settings.json"
    plan, after = install("qwen", {})
    said = json.loads(after[path])
    said["hooks"]["Stop"][0]["hooks"].append({"type": "command", "command": "./mine.sh"})
    edited = {path: json.dumps(said).encode()}
    removed = carried_out(setup_of("qwen").plan_remove(find("qwen", edited, plan.record)), edited)
    assert json.loads(removed[path]) == {
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./mine.sh"}]}]}
    }


def test_codex_trusts_each_of_our_hooks_by_its_place_and_words() -> None:
    _, after = install("codex", on_disk(BEFORE["codex"]))
    said = tomllib.loads(after[f"{HOME}/.codex/config.toml"].decode())
    assert said["projects"][ROOT] == {"trust_level": "trusted"}
    state = said["hooks"]["state"]
    # The user's own group stands first.
    assert f"{ROOT}/.codex/hooks.json:pre_tool_use:1:0" in state
    assert f"{ROOT}/.codex/hooks.json:session_start:0:0" in state


def test_the_hash_that_codex_computes() -> None:
    """That the real Codex accepts it is shown by the end-to-end test of `setup codex --check`."""
    group = {"matcher": "Bash", "hooks": [{"type": "command", "command": "true", "timeout": 10}]}
    expected = "sha256:07fefe99fecc83c6d493e6fb3e30dce747eb9048454616b08c3f96a6a38cd84a"
    assert hook_hash("pre_tool_use", group) == expected
    assert hook_hash("post_tool_use", group) != expected


def test_a_project_that_codex_was_told_not_to_trust_is_left_so_and_said() -> None:
    disk = on_disk({f"{HOME}/.codex/config.toml": f'[projects."{ROOT}"]\ntrust_level = "untrusted"\n'})
    plan, after = install("codex", disk)
    assert (
        tomllib.loads(after[f"{HOME}/.codex/config.toml"].decode())["projects"][ROOT]["trust_level"]
        == "untrusted"
    )
    assert any("told not to trust" in note for note in plan.notes)


def test_droid_gets_each_hook_where_the_users_own_of_that_event_are() -> None:
    _, after = install("droid", on_disk(BEFORE["droid"]))
    beside = json.loads(after[f"{ROOT}/.factory/hooks.json"])
    assert list(beside) == ["PostToolUse"]
    assert [len(groups) for groups in beside.values()] == [2]
    settings = after[f"{ROOT}/.factory/settings.json"]
    assert b" droid PreToolUse" in settings
    assert b" droid PostToolUse" not in settings


def test_hooks_in_a_shape_that_droid_does_not_read_are_moved() -> None:
    """As an earlier release put them in."""
    path = f"{ROOT}/.factory/hooks.json"
    plan, made = install("qwen", {})
    text = made[f"{ROOT}/.qwen/settings.json"].replace(b" qwen ", b" droid ")
    record = {"files": {path: plan.record["files"][f"{ROOT}/.qwen/settings.json"]}}
    _, after = install("droid", {path: text}, record)
    assert path not in after
    assert b" droid PreToolUse" in after[f"{ROOT}/.factory/settings.json"]


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
    assert any("told not to trust" in note for note in plan.notes)


@pytest.mark.parametrize("name", ["codex", "gemini", "copilot", "grok", "kimi"])
def test_trust_that_is_given_is_told_in_words_and_once(name: str) -> None:
    plan, after = install(name, on_disk(BEFORE[name]))
    (told,) = [note for note in plan.notes if f"to trust {ROOT}: " in note]
    (path,) = [change.path for change in plan.changes if f" in {change.path} " in told]
    assert path.startswith(HOME)
    assert after[path] != on_disk(BEFORE[name]).get(path)
    again, _ = install(name, after, plan.record)
    assert not [note for note in again.notes if "to trust" in note]


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
    found = find("kimi", after, plan.record)
    found.has_server = False
    bare = setup_of("kimi").plan_install(found)
    disk = carried_out(bare, after)
    assert kimi_trust(after) not in disk
    assert carried_out(setup_of("kimi").plan_remove(find("kimi", disk, bare.record)), disk) == {}


def test_fail_closed_uses_the_clients_own_switch() -> None:
    found = find("claude", {})
    found.is_closed = True
    plan = setup_of("claude").plan_install(found)
    change = plan.changes[0]
    assert isinstance(change, Change)
    assert b'"onFailure": "block"' in (change.after or b"")


def test_two_repositories_have_blocks_of_their_own_in_the_settings_of_kimi() -> None:
    config = f"{HOME}/.kimi-code/config.toml"
    one, disk = install("kimi", on_disk(BEFORE["kimi"]))
    other = Found(
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
