"""Sample facts for every refusal, so that the reference can show its words.

The generator stops when a refusal has no entry here, or when an entry belongs to no refusal.
"""

from __future__ import annotations

from lineclear.core import refusals_tasks
from lineclear.core.budgets import Amount, Breach
from lineclear.core.claims import Blocker, Request
from lineclear.core.instants import Instant
from lineclear.core.resources import parse_resource
from lineclear.core.tables import Claim
from lineclear.core.trust import Stated

NOW = Instant(tick_ns=0, boot="boot", wall_ns=1_767_268_800 * 1_000_000_000)  # 2026-01-01 12:00 UTC
IN_12_MIN = 12 * 60 * 1_000_000_000
URL = "postgresql://db.example.com/team"
STORE = ".git/lineclear/state.db"
TREE = "/home/sam/shop.worktrees/ada"
CLAIM = Claim(
    "codex-2",
    "file:src/auth/",
    "file:/src/auth",
    "exclusive",
    17,
    "main",
    "login form",
    41,
    1_800_000,
    "",
    IN_12_MIN,
)
VALUE_CLAIM = CLAIM.changed(resource="value:config", node="value:/config")


def _blocker(wanted: str, agent: str = "codex-2", ticket: int = 0) -> Blocker:
    return Blocker(parse_resource(wanted), CLAIM.changed(agent=agent), "file:src/auth/", ticket)


def _request(wanted: str, mode: str) -> Request:
    return Request("claude-1", "main", mode, [parse_resource(wanted)], ttl_ms=60_000)


CYCLE = [_blocker("src/auth/login.py"), _blocker("src/db.py", "claude-1")]
CONFLICT = {"key": "config", "pointer": "/limits/burst"}

# Function -> the argument lists it is shown with; more than one where the words differ much.
SAMPLES: dict[str, list[tuple[object, ...]]] = {
    "lock_file_held": [("src/a.py", "a.py.agent-lock", "pid: 4711, other tool", 3)],
    "block_edited": [("AGENTS.md", "lineclear setup conventions --force")],
    "block_broken": [("AGENTS.md", "it has one mark of lineclear's block, not two")],
    "not_trusted": [([Stated("worktrees.setup[0]", "npm ci"), Stated("checks.gate", "npm test")],)],
    "bad_resource": [("../secret", "it climbs above the repository")],
    "unknown_scheme": [("queue:mail", "queue", ["file", "symbol", "value", "row", "api"])],
    "outside_repo": [("/etc/hosts", "/home/sam/shop")],
    "bad_value": [("duration", "soon", "write it like 90s, 30m, 2h, 1d, 1h30m, 1.5h or 500ms")],
    "store_missing": [(STORE,)],
    "store_busy": [(STORE, "process 4711", 30.0)],
    "store_locked": [(STORE, "database is locked")],
    "store_full": [(STORE, "database or disk is full")],
    "store_read_only": [(STORE, "attempt to write a readonly database")],
    "store_unreadable": [(STORE, "unable to open database file")],
    "store_damaged": [(STORE, "file is not a database")],
    "store_failed": [(URL, "the connection was lost")],
    "store_older": [(STORE, 1, 2)],
    "store_newer": [(STORE, 3, 2)],
    "store_not_empty": [(URL,)],
    "store_on_network": [(STORE, "nfs4")],
    "claim_held": [
        (_blocker("src/auth/login.py"), _request("src/auth/login.py", "exclusive"), NOW, 1),
        (_blocker("a.py", ticket=9), _request("a.py", "intent"), NOW, 1),
    ],
    "claim_deadlock": [("claude-1", "file:src/auth/login.py", CYCLE)],
    "claim_timed_out": [("file:src/auth/login.py", 60_000, "codex-2", "2026-01-01T12:12:00Z")],
    "claim_not_yours": [("file:src/auth/", CLAIM, NOW)],
    "claim_not_held": [("file:src/auth/login.py", ["file:src/auth/"])],
    "ticket_lost": [(9,)],
    "fence_stale": [("value:config", 17, "codex-2", 23)],
    "person_only": [("take over a claim", "codex-2")],
    "operation_differs": [("deploy-7",)],
    "not_found": [],  # one for each kind of thing the source asks it for
    "task_taken": [("T-41", "codex-2", IN_12_MIN, NOW)],
    "task_ends_with_run": [("T-41", "lineclear/T-41-login-form")],
    "task_not_yours": [("T-41", "codex-2", IN_12_MIN, NOW)],
    "task_wrong_state": [("T-41", "merged", "take")],
    "task_not_ready": [("T-42", ["T-40", "T-41"])],
    "task_cycle": [([3, 1, 2, 3],)],
    "import_cycle": [(["2", "3", "2"],)],
    "task_is_same": [("T-7", "T-3")],
    "no_task": [(0, 0, 4)],
    "task_needs": [("T-12", ["codex"])],
    "value_stale": [("config", 3, 4, "codex-2")],
    "value_exists": [("config", 1, "codex-2")],
    "write_held": [("value:config", VALUE_CLAIM, NOW)],
    "lock_first": [("value:schema",)],
    "read_only": [("value:licence",)],
    "not_the_writer": [("value:schema", "architect")],
    "not_the_owner": [("value:schema", "architect")],
    "proposal_decided": [(31, "accepted", "architect")],
    "proposal_out_of_order": [(33, 31, "value:schema")],
    "proposal_stale": [(31, "value:schema", 3, 4)],
    "copy_exists": [("draft",)],
    "copy_not_yours": [("draft", "codex-2")],
    "copy_conflicts": [("draft", [CONFLICT])],
    "branch_unknown": [("claude-1",)],
    "branch_is_main": [("main",)],
    "no_branch": [("/home/sam/shop",)],
    "main_unborn": [("main",)],
    "unrelated": [("import", "main")],
    "nothing_to_land": [("claude-1", "main", "T-41")],
    "other_branch": [("T-41", "claude-1", "codex-2")],
    "not_as_asked": [("T-41", "what it has to produce is not there: docs/login.md")],
    "landing_busy": [(120,)],
    "candidate_unknown": [("Q-7",)],
    "candidate_ended": [("Q-7", "landed", "a review")],
    "not_held": [("Q-7", "waiting")],
    "already_waits": [("codex-2/T-41", "Q-7", "T-41")],
    "breaks_order": [("Q-8", "Q-7")],
    "own_work": [("Q-7", "codex-2")],
    "changed_since": [("Q-7", "codex-2/T-41")],
    "queue_paused": [("sam", "release day")],
    "queue_runs_elsewhere": [("sam",)],
    "nothing_to_undo": [("codex-2",)],
    "git_failed": [("commit-tree", "fatal: failed to write commit object")],
    "bad_usage": [("lineclear release", "name resources, or say --all")],
    "unknown_verb": [("clam", "claim")],
    "price_unknown": [("reviewer", "large-2", "budgets.run_money", "$5.00")],
    "budget_spent": [(Breach("day", "money", Amount(20_400_000), 20_000_000),)],
    "our_bug": [("KeyError: 'agent'", "claims.py:120")],
    "no_commit": [("/home/sam/shop",)],
    "team_store_unknown": [("shop-1f2e3d4c5b",)],
    "not_a_repo": [("/home/sam",)],
    "bare_repo": [("/srv/shop.git",)],
    "broken_git_link": [("/home/sam/shop-2/.git", "/home/sam/shop/.git/worktrees/shop-2")],
    "no_boot_id": [()],
    "bond_held": [("with-4711-1f2e3d4c5b6a",)],
    "worktree_gone": [("/home/sam/shop.worktrees/codex-2",)],
    "snapshot_failed": [("/home/sam/shop.worktrees/codex-2", "No space left on device")],
    "snapshot_busy": [("/home/sam/shop.worktrees/codex-2",)],
    "no_snapshot": [("codex-2/99",)],
    "restored_exists": [("rescue", "codex-2/3")],
    "restored_misnamed": [("res cue", "codex-2/3")],
    "patch_exists": [("work.patch", "codex-2/3")],
    "patch_unwritable": [("work.patch", "Permission denied")],
    "no_work": [("codex-9",)],
    "no_editor": [()],
    "cannot_start": [("code", "No such file or directory")],
    "no_task_came": [(60_000, refusals_tasks.no_task(0, 0, 4))],
    "no_message_came": [(60_000,)],
    "worktree_exists": [("ada", TREE)],
    "worktree_busy": [("ada",)],
    "branch_in_use": [("feat/login", TREE)],
    "branch_exists": [("feat/login",)],
    "branch_blocked": [("lineclear/ada", "lineclear")],
    "differs_in_case": [("worktree", "Ada", "ada")],
    "bad_place": [("/home/sam/shop/trees/ada", "it is inside the worktree main")],
    "place_taken": [(TREE,)],
    "no_first_commit": [("/home/sam/shop",)],
    "base_unknown": [("mian",)],
    "worktree_dirty": [("ada", TREE, 3)],
    "worktree_unmerged": [("ada", TREE, 2)],
    "worktree_locked": [("ada", TREE, "on a removable disk")],
    "worktree_not_yours": [("ada", "ada")],
    "worktree_in_use": [("ada", "ada")],
    "worktree_main": [("remove",)],
    "supervisor_running": [(412, "2026-01-01T12:00:00Z", 3)],
    "no_supervisor": [()],
    "no_worker": [(["claude", "codex"],)],
    "unknown_client": [("clod", ["claude", "codex"])],
    "nothing_to_run": [(["T-1: it needs gpu, and no worker has that"],)],
    "not_running": [("codex-2",)],
    "worktree_failed": [("ada", "could not create directory of '.git/worktrees/ada': Permission denied")],
    "lfs_missing": [("/home/sam/shop",)],
    "no_ports": [(10, 42_000, 48_999)],
    "no_room": [(8, 6 << 30, 4 << 30, 1 << 30)],
    "not_provisioned": [("cache/models", "No space left on device")],
    "setup_failed": [("npm ci", "ended with 1", "npm error code EUSAGE")],
    "no_sandbox": [("bwrap is not installed; Debian and Ubuntu have it in the package bubblewrap.",)],
    "bad_writable": [("/home/sam/.cache/models", "it is not there")],
    "bad_setting": [
        ("lineclear.toml", "claims.ttl", '"soon"', 'a duration from 1s to 24h, like "90s" or "1h30m"')
    ],
    "bad_strategy": [
        ("lineclear.toml", 2, "strategy is none of isolated, single-writer, optimistic, locked, read-only")
    ],
    "too_many_strategies": [("lineclear.toml", 1_000)],
    "broken_settings": [("lineclear.toml", 7, "Expected '=' after a key in a key/value pair")],
    "settings_too_large": [("lineclear.toml", 256 * 1024)],
    "settings_unreadable": [("lineclear.toml", "/home/sam/shop/lineclear.toml", "Permission denied")],
    "unknown_setting": [("claims.tll", '; did you mean "claims.ttl"?')],
    "foreign_tree": [("ada", "ada")],
    "main_is_landed": [("main",)],
    "ref_is_ours": [("refs/lineclear/snapshots/ada",)],
    "client_unknown": [("clade", ["claude", "codex", "gemini", "git"])],
    "settings_unusable": [(".claude/settings.local.json", "it stops being JSON at line 3, column 7")],
    "settings_moved": [(".claude/settings.local.json", "claude")],
    "not_written": [(".claude/settings.local.json", "Permission denied")],
    "unclaimed_lock": [("file:logo.svg",)],
    "foreign_worktree": [("src/a.py", "ada", "ada", "/home/sam/shop.worktrees/bob")],
    "unread_content": [("src/a.py", "codex-2")],
    "hook_failed": [("OSError",)],
}
