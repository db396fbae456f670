"""Show the supervisor's agents: on a terminal one live line each, elsewhere lines of news."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.runs.run_news import ACTED, NEEDS, STARTED
from lineclear.core.instants import show_duration

if TYPE_CHECKING:
    from typing import Any

    from lineclear.app.runs.run_news import RunNews
    from lineclear.cli.render import Output

MOST_NEEDS, MOST_NEWS = 5, 8
ACTION_CHARS, TITLE_CHARS = 48, 32
COLUMNS = ["AGENT", "TASK", "STATE", "LAST ACTION", "TIME", "COST"]


class RunDisplay:
    """A context manager: on a terminal it redraws its lines in place, elsewhere it prints the news."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._needs: list[str] = []
        self._news: list[str] = []
        self._screen = out.live()

    def __enter__(self) -> RunDisplay:
        self._screen.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._screen.stop()

    def tell(self, news: RunNews) -> None:
        text = _words(news)
        if news.kind == ACTED:
            return  # the agent's line shows it
        if news.kind == NEEDS:
            self._needs = [*self._needs, text][-MOST_NEEDS:]
        self._news = [*self._news, text][-MOST_NEWS:]
        if not self._screen.is_live:
            item = {"kind": news.kind, "agent": news.agent, "task": news.task, "text": news.text}
            self._out.news(item, f"needs you: {text}" if news.kind == NEEDS else text)

    def greet(self, agents: list[dict[str, Any]]) -> None:
        """When watching begins, print the agents' states if there is no live display."""
        for agent in () if self._screen.is_live else agents:
            name, task, state = row(agent)[:3]
            self._out.news(agent, f"{name}: {state} on {task}" if task else f"{name}: {state}")

    def show(self, agents: list[dict[str, Any]]) -> None:
        if self._screen.is_live:
            rows = [row(agent) for agent in agents]
            self._screen.draw(self._needs, COLUMNS, rows, self._news)


def _words(news: RunNews) -> str:
    if not news.agent:
        return news.text
    return f"{news.agent} {STARTED} {news.text}" if news.kind == STARTED else f"{news.agent}: {news.text}"


def row(agent: dict[str, Any]) -> list[str]:
    attempt = f" (attempt {agent['attempt']})" if agent["attempt"] > 1 else ""
    task = f"{agent['task']} {_cut(agent['title'], TITLE_CHARS)}{attempt}" if agent["task"] else ""
    seconds = agent["seconds"]
    silent = agent["silent_seconds"] or 0
    action = _cut(agent["action"], ACTION_CHARS)
    if silent >= 30:
        action = f"{action} ({show_duration(silent * 1000)} ago)"
    return [
        agent["agent"],
        task,
        agent["state"],
        action,
        "" if seconds is None else show_duration(seconds * 1000),
        agent["cost"],
    ]


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
