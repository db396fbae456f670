"""What a setting is, the table of all of them, and the value that holds them. On the hook's path.

Everything about a setting derives from SETTINGS: reading, `config show`, the example file, the reference.
What a file can name freely (workers, prices, variables, paths) is in nested.py; values.py checks values.
"""

from __future__ import annotations

from lineclear.core.durations import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.core.money import Price
    from lineclear.core.strategies import Rule
    from lineclear.settings.checks import CheckPath
    from lineclear.settings.workers import Worker

# Where a setting comes from, the later one winning; between the last two stands a variable, by its name.
DEFAULT, TEAM_FILE, LOCAL_FILE, FLAG = "default", "lineclear.toml", "local.toml", "flag"
PREFIX = "LINECLEAR_"

TEXT, WORD, DURATION, COUNT, SWITCH, FOLD = "text", "word", "duration", "count", "switch", "fold"
SCHEMES, LIST, SIZE, MONEY, CHOICE = "schemes", "list", "size", "money", "choice"
# A shell command, several of them, the words of one: what only runs after `lineclear trust`.
COMMAND, COMMANDS, WORDS = "command", "commands", "words"

_UNITS = {DURATION: "_ms", SIZE: "_bytes", MONEY: "_micros"}


class Setting:
    """One key of a settings file. `least` and `most` bound a number, `most` also a text's length.

    Zero of a MONEY means that there is no limit, and is written as the empty text.
    """

    __slots__ = (
        "about", "attribute", "choices", "default", "is_secret", "kind", "least", "most", "name", "variable",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        kind: str,
        default: object,
        about: str,
        *,
        least: int = 0,
        most: int = 0,
        choices: tuple[str, ...] = (),
        is_secret: bool = False,
    ) -> None:
        self.name, self.kind, self.default, self.about = name, kind, default, about
        self.least, self.most, self.choices, self.is_secret = least, most, choices, is_secret
        plain = name.replace(".", "_")
        self.attribute = plain + _UNITS.get(kind, "")
        self.variable = PREFIX + plain.upper()


# -- the table --------------------------------------------------------------------------------

KIB, MIB, GIB, TIB = 1 << 10, 1 << 20, 1 << 30, 1 << 40
MAX_TOKENS, MAX_MICROS = 10**12, 10**15

SANDBOXES = ("off", "bwrap")

_SECRET_NAMES = (
    ".env", ".env.*", "*.pem", "*.key", "id_rsa*", "id_ed25519*", "*.p12", "*.pfx", "*credentials*.json",
    ".npmrc", ".pypirc", ".netrc", "secrets.*",
)  # fmt: skip

ALL = (
    Setting("repo.id", TEXT, "", "keeps repositories apart that share one database", most=200),
    Setting(
        "store.url",
        TEXT,
        "",
        "postgresql://... for a store shared by a team; empty: a file inside .git",
        most=2_000,
        is_secret=True,
    ),
    Setting(
        "claims.ttl",
        DURATION,
        30 * MINUTE_MS,
        "how long a claim lasts unless it is renewed",
        least=SECOND_MS,
        most=24 * HOUR_MS,
    ),
    Setting(
        "tasks.lease",
        DURATION,
        30 * MINUTE_MS,
        "how long a taken task stays with an agent that says nothing",
        least=10 * SECOND_MS,
        most=24 * HOUR_MS,
    ),
    Setting("tasks.attempts", COUNT, 3, "how often a task is tried before it has failed", least=1, most=100),
    Setting(
        "operations.keep",
        DURATION,
        24 * HOUR_MS,
        "how long a command can be repeated by its operation id and still count once",
        least=MINUTE_MS,
        most=365 * DAY_MS,
    ),
    Setting(
        "agents.grace",
        DURATION,
        10 * SECOND_MS,
        "how long an agent's process may be gone before the agent is freed",
        most=10 * MINUTE_MS,
    ),
    Setting(
        "agents.silence",
        DURATION,
        10 * MINUTE_MS,
        "after which a new session may inherit the place of a silent one",
        least=10 * SECOND_MS,
        most=24 * HOUR_MS,
    ),
    Setting("agents.person", TEXT, "", "your own name in the log; empty: found by itself", most=200),
    Setting("paths.fold_case", FOLD, "auto", "are A.py and a.py one file? auto: as git has it here"),
    Setting("paths.nfc", SWITCH, True, "take two Unicode spellings of one name for the same name"),
    Setting("resources.schemes", SCHEMES, (), "kinds of resource of your own, such as queue:NAME"),
    # -- worktrees --
    Setting(
        "worktrees.directory",
        TEXT,
        "",
        "where agents' worktrees are made; empty: beside the repository, in REPO.worktrees",
        most=1_000,
    ),
    Setting("worktrees.base", WORD, "", "what new branches start from; empty: the landing branch", most=200),
    Setting(
        "worktrees.branches", WORD, "lineclear/", "what the names of agents' branches begin with", most=100
    ),
    Setting(
        "worktrees.copy",
        LIST,
        (".env", ".env.*"),
        "files that git ignores and every worktree gets a copy of, by pattern",
        most=300,
    ),
    Setting(
        "worktrees.link",
        LIST,
        (),
        "files and directories that git ignores and all worktrees share by a symbolic link, by pattern",
        most=300,
    ),
    Setting(
        "worktrees.setup", COMMANDS, (), "commands that make a new worktree ready, in this order", most=2_000
    ),
    Setting(
        "worktrees.setup_timeout",
        DURATION,
        10 * MINUTE_MS,
        "how long all the commands of worktrees.setup together may take",
        least=SECOND_MS,
        most=24 * HOUR_MS,
    ),
    Setting("worktrees.ports", COUNT, 10, "how many free ports each worktree gets; 0: none", most=1_000),
    Setting(
        "worktrees.ports_from",
        COUNT,
        42_000,
        "the first port that may be given out",
        least=1_024,
        most=65_535,
    ),
    Setting(
        "worktrees.ports_to", COUNT, 48_999, "the last port that may be given out", least=1_024, most=65_535
    ),
    Setting(
        "worktrees.disk_reserve",
        SIZE,
        GIB,
        "what stays free on the disk when worktrees are made",
        most=100 * TIB,
    ),
    Setting(
        "worktrees.sandbox",
        CHOICE,
        "off",
        "bwrap: an agent can only write to its worktree, the git directory and worktrees.writable",
        choices=SANDBOXES,
    ),
    Setting("worktrees.writable", LIST, (), "paths that stay writable inside the sandbox", most=1_000),
    # -- run --
    Setting("run.agents", COUNT, 3, "how many agents work at once", least=1, most=200),
    Setting(
        "run.worker",
        WORD,
        "",
        "the worker or client that does the work; empty: every [workers] entry",
        most=64,
    ),
    Setting(
        "run.silence",
        DURATION,
        10 * MINUTE_MS,
        "without output, work of the processor or a changed file for so long, an agent is hung",
        least=10 * SECOND_MS,
        most=24 * HOUR_MS,
    ),
    Setting(
        "run.grace",
        DURATION,
        10 * SECOND_MS,
        "how long an agent may take to stop before it is killed",
        most=10 * MINUTE_MS,
    ),
    Setting(
        "run.log_size",
        SIZE,
        256 * MIB,
        "how much of one run's output is kept",
        least=64 * KIB,
        most=TIB,
    ),
    Setting(
        "run.scope",
        CHOICE,
        "warn",
        "what happens with files that were changed outside the task's scope",
        choices=("warn", "refuse", "off"),
    ),
    Setting("run.land", SWITCH, True, "finished work is landed; otherwise its branch waits"),
    Setting(
        "run.prompt_size",
        SIZE,
        16 * KIB,
        "how much an agent is told when it starts",
        least=8 * KIB,
        most=MIB,
    ),
    Setting("run.loops", SWITCH, True, "an agent that goes round in circles is stopped"),
    # -- budgets --
    Setting(
        "budgets.run_time", DURATION, 2 * HOUR_MS, "how long one run may take; 0s: no limit", most=30 * DAY_MS
    ),
    Setting("budgets.run_tokens", COUNT, 0, "tokens that one run may use; 0: no limit", most=MAX_TOKENS),
    Setting(
        "budgets.run_money", MONEY, 0, "US dollars that one run may cost; empty: no limit", most=MAX_MICROS
    ),
    Setting(
        "budgets.run_memory",
        SIZE,
        0,
        "memory that the processes of one run may use; 0: no limit",
        most=100 * TIB,
    ),
    Setting("budgets.task_tokens", COUNT, 0, "tokens for all runs of one task; 0: no limit", most=MAX_TOKENS),
    Setting(
        "budgets.task_money",
        MONEY,
        0,
        "US dollars for all runs of one task; empty: no limit",
        most=MAX_MICROS,
    ),
    Setting("budgets.day_tokens", COUNT, 0, "tokens for all runs of one day; 0: no limit", most=MAX_TOKENS),
    Setting(
        "budgets.day_money", MONEY, 0, "US dollars for all runs of one day; empty: no limit", most=MAX_MICROS
    ),
    # -- snapshots --
    Setting(
        "snapshots.every",
        DURATION,
        4 * SECOND_MS,
        "how old the last snapshot of a worktree may be while its files change",
        least=SECOND_MS,
        most=10 * MINUTE_MS,
    ),
    Setting("snapshots.keep", COUNT, 20, "how many snapshots of an agent are kept", least=1, most=10_000),
    Setting(
        "snapshots.keep_for",
        DURATION,
        14 * DAY_MS,
        "how long snapshots are kept",
        least=HOUR_MS,
        most=3_650 * DAY_MS,
    ),
    Setting(
        "snapshots.largest_file",
        SIZE,
        10 * MIB,
        "untracked files larger than this are left out of snapshots",
        least=KIB,
        most=TIB,
    ),
    Setting("snapshots.secrets", SWITCH, False, "take files with secret names into snapshots, too"),
    Setting(
        "snapshots.secret_names",
        LIST,
        _SECRET_NAMES,
        "names of files that hold secrets",
        most=300,
    ),
    # -- mirror --
    Setting("mirror.tasks", SWITCH, False, "keep TASKS.md in every worktree; an edit of it is a command"),
    Setting(
        "mirror.coordination",
        SWITCH,
        False,
        "keep .lineclear/coordination.json in every worktree: who holds what, until when",
    ),
    Setting(
        "mirror.locks",
        SWITCH,
        False,
        "write PATH.agent-lock for exclusive claims, and honour those of other tools",
    ),
    # -- queue --
    Setting(
        "queue.branch",
        WORD,
        "",
        "the branch that work lands on; empty: main, master or the remote's",
        most=200,
    ),
    Setting(
        "queue.remote",
        WORD,
        "",
        "a remote that every landing is pushed to; the push decides who lands first",
        most=100,
    ),
    Setting(
        "queue.history",
        CHOICE,
        "merge",
        "how a branch lands: as a merge commit, or as one commit on top",
        choices=("merge", "linear"),
    ),
    Setting("queue.batch", COUNT, 16, "how many candidates are checked together", least=1, most=500),
    Setting("queue.workers", COUNT, 2, "how many checks run at once", least=1, most=64),
    Setting(
        "queue.review",
        CHOICE,
        "none",
        "who has to approve a candidate before it lands",
        choices=("none", "person", "agent"),
    ),
    Setting(
        "queue.reviewer",
        COMMAND,
        "",
        "for review by an agent: a command that approves by ending with 0, in a tree with the merge",
        most=2_000,
    ),
    Setting(
        "queue.integrator",
        COMMAND,
        "",
        "a command that works on main after each landing; what it changes is a candidate like any other",
        most=2_000,
    ),
    # -- merge --
    Setting(
        "merge.regenerate",
        LIST,
        (),
        "lock files that their package manager makes anew when both sides changed them, by name or pattern",
        most=300,
    ),
    Setting(
        "merge.regenerate_within",
        DURATION,
        2 * MINUTE_MS,
        "how long a package manager may take for one lock file",
        least=SECOND_MS,
        most=HOUR_MS,
    ),
    # -- checks --
    Setting("checks.gate", COMMAND, "", "the command that must succeed before work lands", most=2_000),
    Setting("checks.full", COMMAND, "", "the command that runs all tests", most=2_000),
    Setting("checks.retries", COUNT, 0, "how often a failed check is tried again before it counts", most=10),
    Setting(
        "checks.shards",
        COUNT,
        1,
        "in how many parts at once checks.full runs; each gets LINECLEAR_SHARD and LINECLEAR_SHARDS",
        least=1,
        most=64,
    ),
    Setting(
        "checks.gate_timeout",
        DURATION,
        10 * MINUTE_MS,
        "how long a check may take",
        least=SECOND_MS,
        most=24 * HOUR_MS,
    ),
    # -- hooks --
    Setting(
        "hooks.on_error",
        CHOICE,
        "open",
        "what a hook does with an edit that it cannot judge: let it pass, or stop it",
        choices=("open", "closed"),
    ),
    Setting(
        "hooks.timeout",
        DURATION,
        5 * SECOND_MS,
        "how long a hook may take before its call passes unjudged",
        least=SECOND_MS // 2,
        most=MINUTE_MS,
    ),
    # -- serve --
    Setting("serve.queue", SWITCH, True, "while `lineclear serve` runs, it runs the queue"),
    Setting(
        "serve.snapshots", SWITCH, True, "while `lineclear serve` runs, it takes snapshots of agents' work"
    ),
    Setting("serve.mirror", SWITCH, True, "while `lineclear serve` runs, it keeps the files of [mirror]"),
)
SETTINGS = {setting.name: setting for setting in ALL}
VARIABLES = {setting.variable: setting for setting in ALL}
SECTIONS = tuple(dict.fromkeys(name.partition(".")[0] for name in SETTINGS))


class Settings:
    """Every setting as an attribute, never changed after loading; `origins` says where each came from."""

    __slots__ = (
        *(setting.attribute for setting in ALL),
        "check_paths", "origins", "prices", "rules", "warnings", "workers", "worktrees_env",
    )  # fmt: skip

    repo_id: str
    store_url: str
    claims_ttl_ms: int
    tasks_lease_ms: int
    tasks_attempts: int
    operations_keep_ms: int
    agents_grace_ms: int
    agents_silence_ms: int
    agents_person: str
    paths_fold_case: str
    paths_nfc: bool
    resources_schemes: tuple[str, ...]
    worktrees_directory: str
    worktrees_base: str
    worktrees_branches: str
    worktrees_copy: tuple[str, ...]
    worktrees_link: tuple[str, ...]
    worktrees_setup: tuple[str, ...]
    worktrees_setup_timeout_ms: int
    worktrees_ports: int
    worktrees_ports_from: int
    worktrees_ports_to: int
    worktrees_disk_reserve_bytes: int
    worktrees_sandbox: str
    worktrees_writable: tuple[str, ...]
    run_agents: int
    run_worker: str
    run_silence_ms: int
    run_grace_ms: int
    run_log_size_bytes: int
    run_scope: str
    run_land: bool
    run_prompt_size_bytes: int
    run_loops: bool
    budgets_run_time_ms: int
    budgets_run_tokens: int
    budgets_run_money_micros: int
    budgets_run_memory_bytes: int
    budgets_task_tokens: int
    budgets_task_money_micros: int
    budgets_day_tokens: int
    budgets_day_money_micros: int
    snapshots_every_ms: int
    snapshots_keep: int
    snapshots_keep_for_ms: int
    snapshots_largest_file_bytes: int
    snapshots_secrets: bool
    snapshots_secret_names: tuple[str, ...]
    mirror_tasks: bool
    mirror_coordination: bool
    mirror_locks: bool
    queue_branch: str
    queue_remote: str
    queue_history: str
    queue_batch: int
    queue_workers: int
    queue_review: str
    queue_reviewer: str
    queue_integrator: str
    merge_regenerate: tuple[str, ...]
    merge_regenerate_within_ms: int
    checks_gate: str
    checks_full: str
    checks_retries: int
    checks_shards: int
    checks_gate_timeout_ms: int
    hooks_on_error: str
    hooks_timeout_ms: int
    serve_queue: bool
    serve_snapshots: bool
    serve_mirror: bool

    def __init__(self) -> None:
        for setting in ALL:
            setattr(self, setting.attribute, setting.default)
        # Variables of [worktrees.env] are in it as "worktrees.env.NAME"; the other values carry their own.
        self.origins = dict.fromkeys(SETTINGS, "default")
        self.worktrees_env: dict[str, str] = {}
        self.workers: list[Worker] = []
        self.prices: dict[str, Price] = {}
        self.check_paths: list[CheckPath] = []
        self.rules: list[Rule] = []
        self.warnings: list[str] = []
