"""Threads that do quick calls: in order, as many at once as they may be, and never left behind."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import anyio
import pytest

from lineclear.mcp.thread_pool import CallThreadPool

PATIENCE_S = 60.0


def play(scene: Callable[[CallThreadPool], Coroutine[Any, Any, None]], most: int = 2) -> None:
    async def main() -> None:
        hands = CallThreadPool(most)
        try:
            with anyio.fail_after(PATIENCE_S):
                await scene(hands)
        finally:
            hands.close()

    anyio.run(main)


def test_what_the_work_gives_or_raises_comes_back() -> None:
    async def scene(hands: CallThreadPool) -> None:
        assert await hands.do(lambda: threading.current_thread().name) == "call"
        with pytest.raises(ZeroDivisionError):
            await hands.do(lambda: 1 // 0)
        assert await hands.do(lambda: 7) == 7

    play(scene)


def test_calls_one_after_the_other_share_one_thread() -> None:
    async def scene(hands: CallThreadPool) -> None:
        assert len({await hands.do(threading.get_ident) for _ in range(20)}) == 1

    play(scene)


def test_no_more_work_at_once_than_there_may_be_and_the_rest_in_order() -> None:
    lock, may_go = threading.Lock(), threading.Event()
    begun: list[int] = []
    at_once = [0, 0]

    def work(number: int) -> None:
        with lock:
            begun.append(number)
            at_once[0] += 1
            at_once[1] = max(at_once)
        assert may_go.wait(PATIENCE_S)
        with lock:
            at_once[0] -= 1

    async def scene(hands: CallThreadPool) -> None:
        async with anyio.create_task_group() as group:
            for number in range(8):
                group.start_soon(hands.do, lambda number=number: work(number))
                await anyio.lowlevel.checkpoint()
            while len(begun) < 2:
                await anyio.sleep(0.001)
            may_go.set()

    play(scene)
    assert at_once == [0, 2]
    assert sorted(begun[:2]) == [0, 1]
    assert begun[2:] == sorted(begun[2:])


def test_who_is_cancelled_comes_back_when_the_work_that_began_has_ended() -> None:
    has_begun, may_go = threading.Event(), threading.Event()
    ends: list[str] = []

    def work() -> None:
        has_begun.set()
        assert may_go.wait(PATIENCE_S)
        ends.append("work")

    async def scene(hands: CallThreadPool) -> None:
        async with anyio.create_task_group() as group:

            async def ask() -> None:
                try:
                    await hands.do(work)
                finally:
                    ends.append("asked")

            group.start_soon(ask)
            while not has_begun.is_set():
                await anyio.sleep(0.001)
            group.cancel_scope.cancel()
            asyncio.get_running_loop().call_later(0.05, may_go.set)
        assert ends == ["work", "asked"]

    play(scene)


def test_who_is_cancelled_before_the_work_began_does_not_have_it_done() -> None:
    has_begun, may_go = threading.Event(), threading.Event()
    done: list[str] = []

    def work() -> None:
        has_begun.set()
        assert may_go.wait(PATIENCE_S)

    async def scene(hands: CallThreadPool) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(hands.do, work)
            while not has_begun.is_set():
                await anyio.sleep(0.001)
            with anyio.move_on_after(0.01) as patience:
                await hands.do(lambda: done.append("late"))
            assert patience.cancelled_caught
            may_go.set()
        assert await hands.do(lambda: "next") == "next"
        assert done == []

    play(scene, most=1)


def test_its_threads_end_when_it_is_closed() -> None:
    async def scene(hands: CallThreadPool) -> None:
        thread = await hands.do(threading.current_thread)
        hands.close()
        await anyio.to_thread.run_sync(thread.join, PATIENCE_S)
        assert not thread.is_alive()

    play(scene)
