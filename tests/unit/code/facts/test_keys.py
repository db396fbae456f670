"""What files register under a name, in tables: kind, name, meaning."""

from __future__ import annotations

import time

import pytest

from lineclear.code.facts.keys import MAX_SIZE, keys_of
from lineclear.core.radar.facts import (
    COMMAND,
    DEPENDENCY,
    EVENT,
    MIGRATION,
    ROUTE,
    SELECTOR,
    TABLE,
    VARIABLE,
)


def named(kind: str, path: str, text: str) -> dict[str, str]:
    return {key.name: key.meaning for key in keys_of(path, text) if key.kind == kind}


ROUTES = [
    (
        "app.py",
        'app = Flask(__name__)\n@app.route("/pay", methods=["GET", "POST"])\n@login\ndef pay(): ...\n',
        {"GET /pay": "pay in app.py", "POST /pay": "pay in app.py"},
    ),
    ("a.py", '@bp.get("/x")\nasync def x(): ...\n', {"GET /x of bp in a.py": "x in a.py"}),
    ("a.py", 'app.add_url_rule("/old", view_func=old)\n', {"GET /old": "old"}),
    ("a.py", 'app.router.add_get("/old", old)\n', {"GET /old": "old"}),
    ("a.py", '@mock.patch("shop.cart")\ndef test(): ...\n', {}),
    ("a.py", '# @app.get("/x")\n"""\n@app.get("/y")\n"""\n', {}),
    (
        "urls.py",
        'urlpatterns = [path("a/", views.a), path("api/", include("x.urls"))]\n',
        {"ANY a/ of path in urls.py": "views.a"},
    ),
    ("a.js", "app.get('/pay', auth, pay)\n", {"GET /pay": "pay"}),
    ("a.js", "app.get('/pay', (req) => [1, 2])\n", {"GET /pay": "(req) => [1, 2] in a.js"}),
    ("a.js", "// app.get('/pay', pay)\napp.get('title')\ncache.get('/a', b)\napi.get('/a', {b: 1})\n", {}),
    ("a.js", "router.post('/x', make)\n", {"POST /x of router in a.js": "make"}),
    (
        "a.ts",
        "usersRouter.route('/u').get(list).all(check)\n",
        {"GET /u of usersRouter in a.ts": "list", "ANY /u of usersRouter in a.ts": "check"},
    ),
    (
        "a.ts",
        "function plugin(fastify) { fastify.route({ method: 'GET', url: '/x', handler: show }) }\n",
        {"GET /x of plugin.fastify in a.ts": "show"},
    ),
    ("a.ts", "const app = new Hono()\napp.get('/x', show)\n", {"GET /x of app in a.ts": "show"}),
    (
        "a.ts",
        "@Controller('users')\nexport class Users {\n  @Get(':id')\n  @UseGuards(Auth)\n  async find() {}\n"
        "  @Post()\n  make() {}\n}\n",
        {"GET /users/:id": "Users.find in a.ts", "POST /users": "Users.make in a.ts"},
    ),
    (
        "A.java",
        '@RestController\n@RequestMapping("/orders")\npublic class Orders {\n  @GetMapping("/{id}")\n'
        "  public Order find(long id) {}\n  @PostMapping\n  Order make() {}\n"
        '  @RequestMapping(value = "/x", method = RequestMethod.PUT)\n  void put() {}\n}\n',
        {
            "GET /orders/{id}": "Orders.find in A.java",
            "POST /orders": "Orders.make in A.java",
            "PUT /orders/x": "Orders.put in A.java",
        },
    ),
    ("A.java", '@FeignClient("x")\ninterface A { @GetMapping("/x") String x(); }\n', {}),
    (
        "A.cs",
        '[ApiController]\n[Route("api/[controller]")]\npublic class OrdersController : Base {\n'
        '  [HttpGet("{id}")]\n  public Order Find(int id) => null;\n}\n',
        {"GET /api/Orders/{id}": "OrdersController.Find in A.cs"},
    ),
    (
        "P.cs",
        'app.MapGet("/ping", Ping);\nvar todo = app.MapGroup("/todo");\ntodo.MapPost("/", Make);\n',
        {"GET /ping": "Ping", "POST /todo": "Make"},
    ),
    (
        "m.go",
        'func main() {\n\tr := gin.Default()\n\tapi := r.Group("/api")\n\tapi.GET("/a", a)\n'
        '\tr.Handle("PUT", "/b", b)\n\thttp.HandleFunc("/c", c)\n}\n',
        {"GET /api/a": "a", "PUT /b": "b", "ANY /c": "c"},
    ),
    (
        "m.go",
        'func R(r chi.Router) { r.Route("/v1", func(r chi.Router) { r.Get("/a", a) }) }\n'
        'func S(mux *http.ServeMux) { mux.HandleFunc("POST /b", b) }\nfunc T() { client.Get("/c", &c) }\n',
        {"GET /v1/a of R.r in m.go": "a", "POST /b": "b"},
    ),
    (
        "m.go",
        'func R(r *mux.Router) { r.HandleFunc("/a", a).Methods("GET") }\n',
        {"GET /a of R.r in m.go": "a"},
    ),
    (
        "web.php",
        "<?php\nRoute::get('/a', [A::class, 'show']);\n"
        "Route::prefix('admin')->group(function () {\n  Route::post('/b', 'B@make');\n});\n"
        "# Route::get('/c', 'c');\n",
        {"GET /a of Route in web.php": "[A::class, 'show']", "POST /admin/b of Route in web.php": "'B@make'"},
    ),
    (
        "A.php",
        "<?php\n#[Route('/shop')]\nclass A {\n  #[Route('/a', name: 'a', methods: ['GET'])]\n"
        "  public function show() {}\n}\n",
        {"GET /shop/a": "A.show in A.php"},
    ),
    (
        "config/routes.rb",
        "Rails.application.routes.draw do\n  get 'a', to: 'a#show'\n  namespace :admin do\n"
        "    get 'a' => 'admin#a'\n    resources :orders do\n      member do\n"
        "        post 'ship', to: 'o#ship'\n"
        "      end\n    end\n  end\n  get '/b', to: 'b#show'\nend\n",
        {
            "GET /a of routes in config/routes.rb": "a#show",
            "GET /admin/a of routes in config/routes.rb": "admin#a",
            "POST /admin/orders/:id/ship of routes in config/routes.rb": "o#ship",
            "GET /b of routes in config/routes.rb": "b#show",
        },
    ),
    ("app.rb", "get '/hi' do\n  1\nend\n", {"GET /hi of app in app.rb": "1 in app.rb"}),
    (
        "A.kt",
        'import io.ktor.server\nfun Application.m() { routing { route("/api") { get("/x") { a() } } } }\n'
        'fun Route.u() { get("/u") { b() } }\n',
        {"GET /api/x": "a() in A.kt", "GET /u of u.Route in A.kt": "b() in A.kt"},
    ),
    (
        "a.rs",
        'fn app() -> Router { Router::new().route("/x", get(list).post(make))\n'
        '  .nest("/api", Router::new().route("/y", get(show))) }\n#[get("/z")]\nasync fn z() {}\n',
        {
            "GET /x of app.Router in a.rs": "list",
            "POST /x of app.Router in a.rs": "make",
            "GET /api/y of app.Router in a.rs": "show",
            "GET /z of handlers in a.rs": "z in a.rs",
        },
    ),
]


@pytest.mark.parametrize(("path", "text", "expected"), ROUTES)
def test_routes(path: str, text: str, expected: dict[str, str]) -> None:
    assert named(ROUTE, path, text) == expected


def test_a_route_of_one_program_is_no_route_of_another() -> None:
    text = "app.get('/health', health)\n"
    assert named(ROUTE, "services/a/src/main.js", text) == {"GET /health of services/a": "health"}
    assert named(ROUTE, "services/b/src/main.js", text) == {"GET /health of services/b": "health"}
    assert named(ROUTE, "web/src/main.js", text) == {"GET /health of web": "health"}
    assert named(ROUTE, "src/a/main.js", text) == {"GET /health": "health"}


def test_one_route_with_one_handler_has_one_meaning() -> None:
    one, other = "app.get('/pay', pay)", "app.get( '/pay',  // as before\n  pay )"
    assert named(ROUTE, "a.js", one) == named(ROUTE, "a.js", other)


def test_a_route_with_a_wildcard_is_another_route() -> None:
    text = "app.get('/ships/:id', one)\napp.get('/ships/new', add)\napp.get('/ships/*', all)\n"
    assert list(named(ROUTE, "a.js", text)) == ["GET /ships/:id", "GET /ships/new", "GET /ships/*"]


COMMANDS = [
    (
        "src/shop/export.py",
        'from shop.cli import cli\n@cli.command("export")\n@click.option("--x")\ndef run(x): ...\n',
        {"export of shop.cli:cli": "run in src/shop/export.py"},
    ),
    (
        "src/shop/cli.py",
        "@click.group()\ndef cli(): ...\n@cli.command()\ndef export_all(): ...\n",
        {"export-all of shop.cli:cli": "export_all in src/shop/cli.py"},
    ),
    (
        "src/shop/more.py",
        'from .cli import cli\n@cli.command(name="export")\ndef more(): ...\n',
        {"export of shop.cli:cli": "more in src/shop/more.py"},
    ),
    ("a.py", "@click.command()\ndef alone(): ...\n", {}),
    (
        "a.py",
        'sub = parser.add_subparsers()\np = sub.add_parser("export", help="Export")\n',
        {"export of sub in a.py": 'help="Export" in a.py'},
    ),
    ("a.py", 'def add(sub):\n    sub.add_parser("export")\n', {"export of sub": " in a.py"}),
    (
        "shop/management/commands/export.py",
        "class Command(BaseCommand): ...\n",
        {"manage.py export": "shop/management/commands/export.py"},
    ),
    (
        "cmd/export.go",
        'var exportCmd = &cobra.Command{\n\tUse: "export FILE",\n}\n'
        "func init() { rootCmd.AddCommand(exportCmd) }\n",
        {"export of rootCmd in cmd": "exportCmd in cmd/export.go"},
    ),
    ("cmd/new.go", 'func n() { cmd := &cobra.Command{Use: "list"} }\n', {}),
    (
        "cli.ts",
        "program\n  .command('export <file>')\n  .description('x')\n  .action(exportAll)\n",
        {"export of program": "exportAll in cli.ts"},
    ),
    (
        "cli.ts",
        "const user = program.command('user')\nuser.command('list').action(list)\n",
        {"user of program": " in cli.ts", "list of user in cli.ts": "list in cli.ts"},
    ),
    (
        "main.rs",
        'fn cli() -> Command { Command::new("a").subcommand(Command::new("export").about("x")) }\n',
        {"export of cli in main.rs": ") in main.rs"},
    ),
    (
        "E.php",
        "<?php\nclass Export extends Command {\n  protected $signature = 'orders:export {file}';\n}\n",
        {"orders:export": "Export in E.php"},
    ),
]


@pytest.mark.parametrize(("path", "text", "expected"), COMMANDS)
def test_commands(path: str, text: str, expected: dict[str, str]) -> None:
    assert named(COMMAND, path, text) == expected


EVENTS = [
    (
        "a.ts",
        "export const EVENTS = { PAID: 'order.paid', 'order.sent': Sent }\n",
        {"order.paid": "PAID", "order.sent": "Sent"},
    ),
    ("a.ts", "const ORDER_EVENTS = Object.freeze({\n  paid: 'order.paid',\n})\n", {"order.paid": "paid"}),
    ("a.ts", "enum OrderEvents { Paid = 'order.paid' }\n", {"order.paid": "Paid"}),
    (
        "a.py",
        'class OrderEvents(str, Enum):\n    PAID = "order.paid"\n\nOTHER = "no.event"\n',
        {"order.paid": "PAID"},
    ),
    ("a.py", 'ORDER_PAID_EVENT = "order.paid"\nEVENT_TIMEOUT = "30"\n', {"order.paid": "ORDER_PAID_EVENT"}),
    ("a.go", 'const (\n\tEventPaid = "order.paid"\n)\n', {"order.paid": "EventPaid"}),
    ("a.py", 'paid = register_event("order.paid", Paid)\n', {"order.paid": "paid Paid"}),
    ("a.ts", 'const paid = createEvent<Paid>("order.paid")\n', {"order.paid": "paid <Paid>"}),
    ("a.ts", "bus.on('order.paid', f)\nbus.emit('order.paid')\nel.addEventListener('click', f)\n", {}),
    ("a.ts", "document.createEvent('MouseEvents')\nfunction loadEvents() { return { a: 'b.c' } }\n", {}),
]


@pytest.mark.parametrize(("path", "text", "expected"), EVENTS)
def test_events(path: str, text: str, expected: dict[str, str]) -> None:
    assert named(EVENT, path, text) == expected


VARIABLES = [
    ("a.py", 'a = os.environ["A"]\nb = int(os.getenv("B", "30"))\n', {"A": "", "B": "30"}),
    ("a.py", 'c = os.environ.get("C") or "x, y"\ne = env.int("E", default=5)\n', {"C": "x, y", "E": "5"}),
    ("a.py", 'a = os.getenv("A")\nb = os.getenv("A", None)\n', {"A": ""}),
    ("a.py", 'a = os.getenv("A")\nb = os.getenv("A", "True")\n', {"A": "true"}),
    ("a.py", '# os.getenv("A")\nb = settings["B"]\n', {}),
    (
        "a.ts",
        "const p = process.env.PORT ?? 3000;\nconst q = f(process.env['Q'] || 'x', 1)\n",
        {"PORT": "3000", "Q": "x"},
    ),
    (
        "a.ts",
        "const q = Number(process.env.Q) || 30\nconst r = import.meta.env.VITE_R\n",
        {"Q": "30", "VITE_R": ""},
    ),
    ("a.ts", "const { HOST = 'local', X } = process.env\n", {"HOST": "local", "X": ""}),
    ("a.go", 'x := os.Getenv("X")\ny := getEnv("Y", "7")\n', {"X": "", "Y": "7"}),
    ("A.java", 'a = System.getenv("A"); b = System.getenv().getOrDefault("B", "3");\n', {"A": "", "B": "3"}),
    ("A.java", 'c = Optional.ofNullable(System.getenv("C")).orElse("9");\n', {"C": "9"}),
    (
        "a.kt",
        'val a = System.getenv("A") ?: "30"\nval b = System.getenv("B")?.toInt() ?: 5\n',
        {"A": "30", "B": "5"},
    ),
    (
        "a.rb",
        'A = ENV["A"] || "x"\nENV.fetch("B", 30)\nENV.fetch("C") { "z" }\n',
        {"A": "x", "B": "30", "C": "z"},
    ),
    ("a.rs", 'let a = env::var("A").unwrap_or("30".into());\n', {"A": "30"}),
    ("a.rs", 'let b = std::env::var("B").unwrap_or_else(|_| "30".to_string());\n', {"B": "30"}),
    ("a.rs", 'let c = env::var("C").unwrap_or_else(|_| String::from("30"));\n', {"C": "30"}),
    ("a.cs", 'var a = Environment.GetEnvironmentVariable("A") ?? "30";\n', {"A": "30"}),
    (
        "a.php",
        "<?php $a = env('A', '30'); $b = getenv('B') ?: 5; $c = $_ENV['C'] ?? 'x';",
        {"A": "30", "B": "5", "C": "x"},
    ),
    (
        "app/.env.example",
        "# c\nA=30\nexport B='x y'\nC=1 # note\nD=\n",
        {"A": "30", "B": "x y", "C": "1", "D": ""},
    ),
]


@pytest.mark.parametrize(("path", "text", "expected"), VARIABLES)
def test_variables(path: str, text: str, expected: dict[str, str]) -> None:
    assert named(VARIABLE, path, text) == expected


def test_two_defaults_of_one_variable_are_two_meanings() -> None:
    keys = keys_of("a.py", 'os.getenv("A", "1")\nos.getenv("A", "2")\nos.getenv("A", "1")\nos.getenv("A")\n')
    assert [(key.meaning, key.row) for key in keys] == [("1", 0), ("2", 1)]


def test_a_default_in_a_program_and_in_an_env_file_have_one_meaning() -> None:
    assert named(VARIABLE, "a.py", 'os.getenv("A", "30")') == named(VARIABLE, ".env", 'A="30"')


def test_selectors() -> None:
    text = (
        "/* .no {}\n*/\n.pay { color:red; margin: 0 }\n"
        "// .no { }\n#top,\n.x { a { b: c } }\nbody { margin: 0 }\n"
    )
    keys = [(key.name, key.meaning, key.row) for key in keys_of("a.scss", text)]
    assert keys == [(".pay", "color: red; margin: 0", 2), ("#top, .x", "a { b: c }", 4)]


def test_the_order_of_declarations_matters_only_if_one_includes_another() -> None:
    def meaning(body: str) -> str:
        return named(SELECTOR, "a.css", f".x {{ {body} }}")[".x"]

    assert meaning("color: red; width: 1px") == meaning("width:1px;color:red;")
    assert meaning("margin: 0; margin-top: 1px") != meaning("margin-top: 1px; margin: 0")


def test_a_style_sheet_of_a_module_has_its_own_names() -> None:
    assert named(SELECTOR, "a.module.css", ".x { a: b }") == {".x in a.module.css": "a: b"}


DJANGO = (
    'class Migration(migrations.Migration):\n    dependencies = [("shop", "0006_a"), ("auth", "0001_b")]\n'
)
MIGRATIONS = [
    (
        "shop/migrations/0007_tax.py",
        DJANGO,
        {"shop/migrations 7": "0007_tax", "shop/migrations after 0006_a": "0007_tax"},
    ),
    (
        "alembic/versions/b1_tax.py",
        'revision: str = "b1"\ndown_revision: Union[str, None] = "a0"\n',
        {"alembic/versions b1": "b1_tax.py", "alembic/versions after a0": "b1"},
    ),
    ("db/migrate/20260101120000_tax.rb", "", {"db/migrate 20260101120000": "20260101120000_tax"}),
    ("sql/V7__tax.sql", "", {"sql 7": "tax"}),
    ("sql/V1_2__tax.sql", "", {"sql 1.2": "tax"}),
    ("sql/V1.10__tax.sql", "", {"sql 1.10": "tax"}),
    ("migrations/000012_tax.up.sql", "", {"migrations 12": "000012_tax"}),
    ("migrations/000012_tax.down.sql", "", {"migrations 12": "000012_tax"}),
    ("prisma/migrations/20260101120000_tax/migration.sql", "", {"prisma/migrations 20260101120000": "tax"}),
    ("migrations/__init__.py", "", {}),
    ("src/0007_tax.py", "", {}),
    (
        "db/changelog.xml",
        '<changeSet id="2" author="ann">x</changeSet>',
        {"db/changelog.xml change set 2 of ann": '<changeSet id="2" author="ann">x</changeSet>'},
    ),
]


@pytest.mark.parametrize(("path", "text", "expected"), MIGRATIONS)
def test_migrations(path: str, text: str, expected: dict[str, str]) -> None:
    assert named(MIGRATION, path, text) == expected


POETRY = (
    '[tool.poetry.dependencies]\npython = "^3.11"\na = "^1"\nb = {version = "^2", markers = "x == \'y\'"}\n'
    '[tool.poetry.group.dev.dependencies]\nc = "3"\nd = {path = "../d"}\n'
)
PYPROJECT = (
    '[project]\ndependencies = ["Zope.Interface[x]>=2 ; python_version < \'3\'", "b"]\n'
    '[project.optional-dependencies]\nx = ["c==1"]\n'
    '[dependency-groups]\ndev = ["d>2", {include-group = "x"}]\n'
)
CARGO = (
    '[dependencies]\nserde = "1"\nt = {version = "2"}\np = {path = ".."}\n'
    'old = {package = "new", version = "5"}\n'
    '[target."cfg(x)".dev-dependencies]\nu = "3"\n[workspace.dependencies]\nw = "4"\n'
)
POM = (
    "<properties><j.v>2.15</j.v></properties><!-- <dependency><groupId>n</groupId> -->"
    "<dependency><groupId>g</groupId><artifactId>a</artifactId><version>${j.v}</version></dependency>"
    "<dependency><groupId>g</groupId><artifactId>managed</artifactId></dependency>"
)
GRADLE = (
    'dependencies {\n  implementation("g:a:1.2")\n  // api("g:no:1")\n'
    '  api platform("g:b:3")\n  x group: "g", name: "c", version: "4.+"\n}\n'
)
GO_MOD = "module x\nrequire (\n\tgithub.com/a/b v1.2.3 // indirect\n)\nrequire github.com/c/d/v2 v2.0.0\n"
CSPROJ = (
    '<PackageReference Include="A" Version="1.2" />\n'
    '<PackageReference Include="B"><Version>2</Version></PackageReference>'
)
DEPENDENCIES = [
    (
        "web/package.json",
        '{"dependencies": {"left-pad": "^1"},\n"devDependencies": {"@a/b": "~2"}}',
        {"npm left-pad": "^1", "npm @a/b": "~2"},
    ),
    (
        "pyproject.toml",
        PYPROJECT,
        {"pypi zope-interface": ">=2; python_version < '3'", "pypi b": "", "pypi c": "==1", "pypi d": ">2"},
    ),
    ("pyproject.toml", POETRY, {"pypi a": "^1", "pypi b": "^2; x == 'y'", "pypi c": "3"}),
    (
        "requirements-dev.txt",
        "-r x\nA_b==2.0 \\\n  --hash=sha256:1\nDjango>=3 # x\n",
        {"pypi a-b": "==2.0", "pypi django": ">=3"},
    ),
    ("requirements/base.txt", "a @ https://host/a.whl\n", {"pypi a": "@ https://host/a.whl"}),
    (
        "Cargo.toml",
        CARGO,
        {"cargo serde": "1", "cargo t": "2", "cargo new": "5", "cargo u": "3", "cargo w": "4"},
    ),
    ("go.mod", GO_MOD, {"go github.com/a/b": "v1.2.3", "go github.com/c/d/v2": "v2.0.0"}),
    ("pom.xml", POM, {"maven g:a": "2.15"}),
    ("build.gradle.kts", GRADLE, {"maven g:a": "1.2", "maven g:b": "3", "maven g:c": "4.+"}),
    (
        "Gemfile",
        "gem 'rails', '~> 7.0', '>= 7.0.4'\ngem \"pg\", require: false\n# gem 'no'\n",
        {"gem rails": "~> 7.0, >= 7.0.4", "gem pg": ""},
    ),
    ("a.gemspec", 's.add_runtime_dependency "rack", "~> 3"\n', {"gem rack": "~> 3"}),
    ("composer.json", '{"require": {"php": "^8", "a/b": "^1"}}', {"composer a/b": "^1"}),
    ("A.csproj", CSPROJ, {"nuget A": "1.2", "nuget B": "2"}),
    ("package.json", '{"dependencies": {"left-pad": ', {}),
    ("package.json", "[" * 100_000, {}),
    ("package.json", '{"dependencies": ["a"], "devDependencies": {"a": 1}}', {}),
    ("other.json", '{"dependencies": {"a": "1"}}', {}),
]


@pytest.mark.parametrize(("path", "text", "expected"), DEPENDENCIES)
def test_dependencies(path: str, text: str, expected: dict[str, str]) -> None:
    assert named(DEPENDENCY, path, text) == expected


def test_a_key_knows_its_row() -> None:
    (key,) = keys_of("package.json", '{\n  "dependencies": {\n    "left-pad": "^1"\n  }\n}\n')
    assert key.row == 2
    (key,) = keys_of("a.js", "\n/* x\n */\napp.get('/x', show)\n")
    assert key.row == 3


def test_tables() -> None:
    text = (
        "-- CREATE TABLE no (x int);\n"
        'CREATE TABLE IF NOT EXISTS "Users" (\n  id INT, -- x\n  name text );\n'
        "create temp table t (a int); create table b (x int)"
    )
    keys = [(key.name, key.meaning, key.row) for key in keys_of("a.sql", text) if key.kind == TABLE]
    assert keys == [("users", "(id int,name text)", 1), ("b", "(x int)", 4)]


def test_half_typed_code_keeps_what_is_whole() -> None:
    text = (
        "app.get('/pay', pay)\nif (x {\n  const a = 'open\n"
        "app.post('/sell', sell)\napp.put('/half', (req) => {\n"
    )
    assert named(ROUTE, "a.js", text) == {"GET /pay": "pay", "POST /sell": "sell"}


def test_a_large_file_is_not_read() -> None:
    assert keys_of("a.js", "app.get('/pay', pay)\n" + " " * MAX_SIZE) == ()


HOSTILE = [
    "(", "{", "}", "[", '"', "'", "`", "\\", '\\"', "/*", "/", "#", " ", "\n", "a.", "a.b", '"\\', "= ",
    "@a.get(", "@Get(", "app.get('/a', ", 'r.Get("/a", ', "Route::get('/a', ", "process.env.A ", "<!--",
    "os.getenv('A', ", "ENV.fetch('A') {", "A=\\\n", "create table a ", ".x {", "dependencies = [", "\ud800",
    "<dependency>", "enum Events {", "x = {", "do |", "get 'a' do ", "EVENT_", "class A {", "@RequestMapping(",
    "cobra.Command{", ".command('a')", "gem 'a',", "\0",
]  # fmt: skip
PATHS = [
    "a.py", "a.ts", "a.go", "a.rs", "A.java", "a.kt", "A.cs", "a.php", "a.rb", "config/routes.rb", "a.css",
    "a.sql", ".env", "package.json", "pyproject.toml", "requirements.txt", "pom.xml", "build.gradle",
    "Gemfile", "A.csproj", "go.mod", "migrations/0001_a.py", "db/changelog.sql",
]  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_hostile_text_neither_raises_nor_takes_long(path: str) -> None:
    for piece in HOSTILE:
        start = time.process_time()
        keys_of(path, piece * (50_000 // len(piece)))
        assert time.process_time() - start < 1, piece
