"""The table of all settings: each one is declared here and nowhere else. On the hook's path.

The loader, `config show`, the environment variables, the suggestions for unknown keys, what
`lineclear trust` asks about, `lineclear.example.toml` and the reference page all come from these rows.
Tables whose keys a file chooses itself (workers, prices, strategies, variables, checks by path) are read by
the modules that nested.py lists.
"""

from __future__ import annotations

from lineclear.core.durations import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS
from lineclear.settings.harmless import is_beside
from lineclear.settings.setting import (
    BOTH,
    CHOICE,
    COMMAND,
    COMMANDS,
    COUNT,
    DURATION,
    FOLD,
    IF_UNSET,
    LIST,
    MONEY,
    NEVER,
    ON_MAIN,
    ON_USE,
    SCHEMES,
    SIZE,
    STRICTER,
    SWITCH,
    TEXT,
    TO_COUNT,
    WORD,
    rows_of,
    setting,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.core.claims.strategies import Rule
    from lineclear.core.runs.money import Price
    from lineclear.settings.checks import CheckPath
    from lineclear.settings.workers import Worker

# Where a value comes from; a later source wins. A variable, named by its own name, ranks before a flag.
DEFAULT, TEAM_FILE, LOCAL_FILE, FLAG = "default", "lineclear.toml", "local.toml", "flag"

KIB, MIB, GIB, TIB = 1 << 10, 1 << 20, 1 << 30, 1 << 40
MAX_TOKENS, MAX_MICROS = 10**12, 10**15

_SECRET_NAMES = (
    ".env", ".env.*", "*.env", ".envrc", "*.pem", "*.key", "*.ppk", "id_rsa*", "id_dsa*", "id_ecdsa*",
    "id_ed25519*", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*credentials*.json", ".npmrc",
    ".pypirc", ".netrc", ".pgpass", ".my.cnf", ".git-credentials", ".htpasswd", ".vault-token", "secrets.*",
    "terraform.tfvars", "*.auto.tfvars", "*.tfstate", ".aws/credentials", "*/.aws/credentials",
    ".kube/config", "*/.kube/config", ".docker/config.json", "*/.docker/config.json",
)  # fmt: skip


class Settings:
    """The value of every setting, never changed after loading; `origins` says where each came from.

    As a class attribute each name is the declaration, in an instance it is the value.
    """

    # -- repo --
    repo_id: str = setting(
        TEXT,
        "",
        "A name that keeps this repository apart from others in the same database. "
        "You need it only when several repositories share one database.",
        most=200,
        agents=IF_UNSET,
    )
    # -- store --
    store_url: str = setting(
        TEXT,
        "",
        "Where claims, tasks, values and the log are stored. Empty: in a file inside .git, which is right "
        "for one machine. A team on several machines uses PostgreSQL: postgresql://USER@HOST/DATABASE. Keep "
        "a password in .git/lineclear/local.toml or ~/.pgpass, never in a committed file.",
        most=2_000,
        is_secret=True,
        trust=TO_COUNT,  # the server there receives the user's database password
        agents=IF_UNSET,
    )
    # -- claims --
    claims_ttl_ms: int = setting(
        DURATION,
        30 * MINUTE_MS,
        "How long a claim lasts unless it is renewed. Agents at work renew their claims automatically, so "
        "this is how long others wait for an agent that has vanished.",
        least=SECOND_MS,
        most=24 * HOUR_MS,
    )
    # -- tasks --
    tasks_lease_ms: int = setting(
        DURATION,
        30 * MINUTE_MS,
        "How long an agent keeps a task without a sign of life before another agent may take it.",
        least=10 * SECOND_MS,
        most=24 * HOUR_MS,
    )
    tasks_attempts: int = setting(
        COUNT,
        3,
        "How many times a task is tried before it counts as failed and waits for a person.",
        least=1,
        most=100,
    )
    # -- operations --
    operations_keep_ms: int = setting(
        DURATION,
        24 * HOUR_MS,
        "How long a command can be repeated with the same --key and still take effect only once.",
        least=MINUTE_MS,
        most=365 * DAY_MS,
    )
    # -- agents --
    agents_grace_ms: int = setting(
        DURATION,
        10 * SECOND_MS,
        "How long an agent's process may be gone before the agent's claims and task are freed. Some clients "
        "restart their helper processes; this gives them time to come back.",
        most=10 * MINUTE_MS,
        agents=NEVER,
    )
    agents_silence_ms: int = setting(
        DURATION,
        10 * MINUTE_MS,
        "How long a session must be silent before a new session in the same place continues as the same "
        "agent.",
        least=10 * SECOND_MS,
        most=24 * HOUR_MS,
        agents=NEVER,
    )
    agents_person: str = setting(
        TEXT,
        "",
        "Your own name in the log. Empty: lineclear finds it by itself. Set it in local.toml.",
        most=200,
        trust=TO_COUNT,  # a repository must not choose who you are
    )
    # -- paths --
    paths_fold_case: str = setting(
        FOLD,
        "auto",
        'Whether Readme.md and README.md are the same file. "auto" follows git, which examined your file '
        "system; true and false decide it for everybody, which helps a team on different systems.",
        agents=NEVER,
    )
    paths_nfc: bool = setting(
        SWITCH,
        True,
        "Treat two Unicode spellings of a name as the same name. macOS and Linux store accents differently.",
        agents=NEVER,
    )
    # -- resources --
    resources_schemes: tuple[str, ...] = setting(
        SCHEMES,
        (),
        "Additional kinds of resource. The built-in kinds are file, symbol, value, row, api, port, memory, "
        'display and clipboard. With "gpu" in this list agents can claim gpu:0 and gpu:1. A name consists of '
        'a-z, 0-9 and "-".',
    )
    # -- worktrees --
    worktrees_directory: str = setting(
        TEXT,
        "",
        "The directory for agents' worktrees. Empty: beside the repository, in a directory with the "
        'repository\'s name and the ending ".worktrees". A relative path starts at the root of the '
        "repository. In lineclear.toml it needs trust unless it lies beside the repository, in a directory "
        'whose name is the repository\'s with "." or "-" and more.',
        most=1_000,
        trust=TO_COUNT,  # files of the repository would be written there
        is_harmless=is_beside,
    )
    worktrees_base: str = setting(
        WORD, "", "Where new branches start. Empty: at the landing branch, usually main.", most=200
    )
    worktrees_branches: str = setting(
        WORD, "lineclear/", "The prefix of the names of agents' branches.", most=100
    )
    worktrees_copy: tuple[str, ...] = setting(
        LIST,
        (".env", ".env.*"),
        "Patterns of ignored files that are copied into every worktree.",
        most=300,
        read_from=BOTH,
    )
    worktrees_link: tuple[str, ...] = setting(
        LIST,
        (),
        "Patterns of ignored files and directories that all worktrees share through a symbolic link. Use it "
        "for caches and large data.",
        most=300,
        read_from=BOTH,
    )
    worktrees_setup: tuple[str, ...] = setting(
        COMMANDS,
        (),
        "Commands that prepare a new worktree. They run one after the other, each in a shell in the new "
        "worktree.",
        most=2_000,
        read_from=BOTH,
    )
    worktrees_setup_timeout_ms: int = setting(
        DURATION,
        10 * MINUTE_MS,
        "How long all commands of worktrees.setup may take together.",
        least=SECOND_MS,
        most=24 * HOUR_MS,
        read_from=BOTH,
    )
    worktrees_ports: int = setting(
        COUNT,
        10,
        "How many ports are reserved for each worktree. They are free when the worktree is made and stay "
        "reserved for it; LINECLEAR_PORT is the first one. 0: none.",
        most=1_000,
        read_from=BOTH,
    )
    worktrees_ports_from: int = setting(
        COUNT, 42_000, "The first port that may be reserved.", least=1_024, most=65_535, read_from=BOTH
    )
    worktrees_ports_to: int = setting(
        COUNT, 48_999, "The last port that may be reserved.", least=1_024, most=65_535, read_from=BOTH
    )
    worktrees_disk_reserve_bytes: int = setting(
        SIZE,
        GIB,
        "How much disk space must stay free. A worktree that would leave less is not made.",
        most=100 * TIB,
    )
    worktrees_sandbox: str = setting(
        CHOICE,
        "off",
        'Whether agents run in a sandbox. "bwrap" (Linux, needs bubblewrap): an agent can write only to its '
        "worktree, to git's objects, refs and logs, and to the paths of worktrees.writable. "
        '"off": an agent can write wherever you can.',
        choices=("off", "bwrap"),
        read_from=BOTH,
        agents=STRICTER,
    )
    worktrees_writable: tuple[str, ...] = setting(
        LIST,
        (),
        "Paths that stay writable inside the sandbox, such as the cache of a package manager.",
        most=1_000,
        trust=ON_USE,  # an agent that can write to a shell's start-up file can run any command
        read_from=BOTH,
    )
    # -- run --
    run_agents: int = setting(COUNT, 3, "How many agents work at the same time.", least=1, most=200)
    run_worker: str = setting(
        WORD,
        "",
        "The worker that does the work: the name of a [workers] entry or of a client. Empty: all entries.",
        most=64,
    )
    run_silence_ms: int = setting(
        DURATION,
        10 * MINUTE_MS,
        "How long an agent may show no activity before it is stopped as hung. Output, processor time and "
        "changed files count as activity.",
        least=10 * SECOND_MS,
        most=24 * HOUR_MS,
    )
    run_grace_ms: int = setting(
        DURATION,
        10 * SECOND_MS,
        "How long an agent may take to stop before it is killed.",
        most=10 * MINUTE_MS,
    )
    run_log_size_bytes: int = setting(
        SIZE, 256 * MIB, "How much output of one run is kept.", least=64 * KIB, most=TIB
    )
    run_scope: str = setting(
        CHOICE,
        "warn",
        'What happens when an agent changes files outside the scope of its task. "warn" reports them, '
        '"refuse" does not land them, "off" does not check.',
        choices=("off", "warn", "refuse"),
        agents=STRICTER,
    )
    run_land: bool = setting(SWITCH, True, "Land finished work. If false, the finished branch waits for you.")
    run_prompt_size_bytes: int = setting(
        SIZE,
        16 * KIB,
        "How long an agent's first prompt may be, including its task.",
        least=8 * KIB,
        most=MIB,
    )
    run_loops: bool = setting(
        SWITCH, True, "Stop an agent that goes round in circles, repeating the same call again and again."
    )
    # -- budgets --
    budgets_run_time_ms: int = setting(
        DURATION, 2 * HOUR_MS, 'How long one run may take. "0s": no limit.', most=30 * DAY_MS
    )
    budgets_run_tokens: int = setting(
        COUNT, 0, "How many tokens one run may use, input and output together. 0: no limit.", most=MAX_TOKENS
    )
    budgets_run_money_micros: int = setting(
        MONEY,
        0,
        "How many US dollars one run may cost. Empty: no limit. A client that does not report its cost needs "
        "an entry in [prices].",
        most=MAX_MICROS,
    )
    budgets_run_memory_bytes: int = setting(
        SIZE, 0, "How much memory the processes of one run may use together. 0: no limit.", most=100 * TIB
    )
    budgets_task_tokens: int = setting(
        COUNT, 0, "How many tokens all runs of one task may use together. 0: no limit.", most=MAX_TOKENS
    )
    budgets_task_money_micros: int = setting(
        MONEY,
        0,
        "How many US dollars all runs of one task may cost together. Empty: no limit.",
        most=MAX_MICROS,
    )
    budgets_day_tokens: int = setting(
        COUNT, 0, "How many tokens all runs of one day may use together. 0: no limit.", most=MAX_TOKENS
    )
    budgets_day_money_micros: int = setting(
        MONEY,
        0,
        "How many US dollars all runs of one day may cost together. Empty: no limit.",
        most=MAX_MICROS,
    )
    # -- snapshots --
    snapshots_every_ms: int = setting(
        DURATION,
        4 * SECOND_MS,
        "How old the last snapshot of a worktree may become while its files change.",
        least=SECOND_MS,
        most=10 * MINUTE_MS,
    )
    snapshots_keep: int = setting(
        COUNT, 20, "How many snapshots of each agent are kept; the newest ones stay.", least=1, most=10_000
    )
    snapshots_keep_for_ms: int = setting(
        DURATION, 14 * DAY_MS, "How long snapshots are kept.", least=HOUR_MS, most=3_650 * DAY_MS
    )
    snapshots_largest_file_bytes: int = setting(
        SIZE,
        10 * MIB,
        "The size of the largest untracked file that a snapshot includes.",
        least=KIB,
        most=TIB,
    )
    snapshots_secrets: bool = setting(
        SWITCH,
        False,
        "Include files in snapshots even if their names match snapshots.secret_names.",
        trust=TO_COUNT,  # what a snapshot includes, `run` also commits and lands
    )
    snapshots_secret_names: tuple[str, ...] = setting(
        LIST,
        _SECRET_NAMES,
        "Patterns of the names of files that hold secrets. In lineclear.toml a list that leaves out one of "
        "the built-in patterns needs trust.",
        most=300,
        trust=TO_COUNT,
        is_harmless=lambda names, _root: set(_SECRET_NAMES) <= set(names),
    )
    # -- radar --
    radar_on: bool = setting(
        SWITCH,
        True,
        "Compare the unmerged work of all worktrees and branches, and tell agents what would break when it "
        "is merged.",
    )
    radar_live_for_ms: int = setting(
        DURATION,
        14 * DAY_MS,
        "How long a worktree or a branch counts as live after its last change. The radar compares only live "
        "ones.",
        least=HOUR_MS,
        most=3_650 * DAY_MS,
    )
    # -- mirror --
    mirror_tasks: bool = setting(
        SWITCH,
        False,
        "Keep a TASKS.md in every worktree that lists the tasks. Ticking a box, adding a name or adding a "
        "line is a command.",
    )
    mirror_coordination: bool = setting(
        SWITCH,
        False,
        "Keep a .lineclear/coordination.json in every worktree that lists who holds what, and until when.",
    )
    mirror_locks: bool = setting(
        SWITCH,
        False,
        "Write PATH.agent-lock beside every path that is claimed exclusively, and respect the lock files of "
        "other tools. Such a file prevents others from claiming the path until it is 30 minutes old or its "
        "process is gone.",
        agents=NEVER,
    )
    # -- queue --
    queue_branch: str = setting(
        WORD,
        "",
        "The branch that work lands on. Empty: main, master, or the default branch of the remote.",
        most=200,
        agents=NEVER,
    )
    queue_remote: str = setting(
        WORD,
        "",
        'A remote, such as "origin", that every landing is pushed to. The branch of the remote is then the '
        "landing branch: if two machines land at the same time, the first push wins and the other machine "
        "builds on it. Only the name of a remote in this clone's git config, never a path or a URL. Empty: "
        "landings stay in this clone.",
        most=100,
        trust=ON_USE,
        read_from=ON_MAIN,
    )
    queue_history: str = setting(
        CHOICE,
        "merge",
        'How a branch lands. "merge" makes a merge commit, "linear" makes one commit with all changes of the '
        "branch.",
        choices=("merge", "linear"),
        read_from=ON_MAIN,
    )
    queue_batch: int = setting(
        COUNT,
        16,
        "How many candidates are merged and checked together.",
        least=1,
        most=500,
        read_from=ON_MAIN,
    )
    queue_workers: int = setting(
        COUNT,
        2,
        "How many checks run at the same time, each in its own tree.",
        least=1,
        most=64,
        read_from=ON_MAIN,
    )
    queue_review: str = setting(
        CHOICE,
        "none",
        'Who must approve a candidate before it lands. "agent" means an agent other than the author.',
        choices=("none", "agent", "person"),
        read_from=ON_MAIN,
        agents=STRICTER,
    )
    queue_reviewer: str = setting(
        COMMAND,
        "",
        'The command that reviews a candidate when queue.review is "agent". It starts in a tree that holds '
        "the merge and approves by exiting with 0; its output goes to the author. Empty: an agent runs "
        "`lineclear queue approve`.",
        most=2_000,
        read_from=ON_MAIN,
    )
    queue_integrator: str = setting(
        COMMAND,
        "",
        "A command that works on the landing branch after each landing, for example to update generated "
        "files. It runs in its own worktree, and LINECLEAR_LANDED names a file that lists what landed. Its "
        "changes become a candidate like any other.",
        most=2_000,
        read_from=ON_MAIN,
    )
    # -- merge --
    merge_regenerate: tuple[str, ...] = setting(
        LIST,
        (),
        "Lock files that their package manager rebuilds when both sides changed them. They are rebuilt from "
        'the merged manifests. Give names ("package-lock.json", in every directory) or patterns ("web/**"). '
        "Empty: no package manager is started.",
        most=300,
        trust=ON_USE,  # it starts a package manager
        read_from=ON_MAIN,
    )
    merge_regenerate_within_ms: int = setting(
        DURATION,
        2 * MINUTE_MS,
        "How long a package manager may take to rebuild one lock file.",
        least=SECOND_MS,
        most=HOUR_MS,
        read_from=ON_MAIN,
    )
    # -- checks --
    checks_gate: str = setting(
        COMMAND,
        "",
        "The command that must succeed before work lands. It runs in a shell at the root of a worktree.",
        most=2_000,
        read_from=ON_MAIN,
    )
    checks_full: str = setting(
        COMMAND,
        "",
        "The command that runs all tests. It runs when it is worth the time.",
        most=2_000,
        read_from=ON_MAIN,
    )
    checks_retries: int = setting(
        COUNT,
        0,
        "How many times a failed check is repeated before it counts as failed. A check that passes when it "
        "is repeated is recorded as flaky.",
        most=10,
        read_from=ON_MAIN,
    )
    checks_shards: int = setting(
        COUNT,
        1,
        "How many parts checks.full runs in, all at the same time. LINECLEAR_SHARD holds the number of a "
        "part, starting at 1, and LINECLEAR_SHARDS their count.",
        least=1,
        most=64,
        read_from=ON_MAIN,
    )
    checks_gate_timeout_ms: int = setting(
        DURATION,
        10 * MINUTE_MS,
        "How long a check may take.",
        least=SECOND_MS,
        most=24 * HOUR_MS,
        read_from=ON_MAIN,
    )
    # -- hooks --
    hooks_on_error: str = setting(
        CHOICE,
        "open",
        "What a hook does with an edit that it cannot judge because lineclear failed or took too long. "
        '"open" lets the edit pass and records it (`lineclear doctor` shows it), "closed" stops the edit.',
        choices=("open", "closed"),
        agents=STRICTER,
    )
    hooks_timeout_ms: int = setting(
        DURATION,
        5 * SECOND_MS,
        "How long a hook may take before the call passes without a verdict.",
        least=SECOND_MS // 2,
        most=MINUTE_MS,
    )
    # -- serve --
    serve_queue: bool = setting(
        SWITCH,
        True,
        "Run the queue in `lineclear serve`, like `lineclear queue run`, while no other process runs it.",
    )
    serve_snapshots: bool = setting(
        SWITCH,
        True,
        "Take a snapshot in `lineclear serve` when files in an agent's worktree change. `lineclear run` does "
        "this for its own agents.",
    )
    serve_mirror: bool = setting(
        SWITCH, True, "Update the files of [mirror] in `lineclear serve` after every change."
    )
    serve_radar: bool = setting(
        SWITCH,
        True,
        "Run the radar in `lineclear serve` after every snapshot and every move of main. `lineclear run` "
        "does the same while no server does.",
    )

    # -- tables whose keys a file chooses --
    worktrees_env: dict[str, str]
    workers: list[Worker]
    prices: dict[str, Price]
    check_paths: list[CheckPath]
    rules: list[Rule]

    # A variable of [worktrees.env] is in `origins` as "worktrees.env.NAME"; the other tables carry their own.
    origins: dict[str, str]
    warnings: list[str]
    # Where the repository is; and what the team's file says that does not count before it is trusted: the
    # name of a setting -> how `lineclear trust` shows its value.
    root: str
    held: dict[str, str]
    # Whether the caller is, or may be, an agent; and the variables that therefore did not count, by setting.
    for_agent: bool
    overruled: dict[str, str]
    # The content of the team's file that these settings were read from.
    team: bytes | None

    def __init__(self) -> None:
        self.__dict__.update(_DEFAULTS)
        self.origins = dict.fromkeys(SETTINGS, DEFAULT)
        self.worktrees_env, self.prices, self.root, self.held = {}, {}, "", {}
        self.for_agent, self.overruled, self.team = False, {}, None
        self.workers, self.check_paths, self.rules, self.warnings = [], [], [], []


ALL = rows_of(Settings, has_sections=True)
SETTINGS = {row.name: row for row in ALL}
VARIABLES = {row.variable: row for row in ALL}
SECTIONS = tuple(dict.fromkeys(name.partition(".")[0] for name in SETTINGS))
_DEFAULTS = {row.attribute: row.default for row in ALL}
