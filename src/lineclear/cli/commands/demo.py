"""demo: four scripted agents build a shop, without and with lineclear."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.cli.command import Command, Context
from lineclear.cli.demo.shop.showing import show_shop
from lineclear.cli.parser import whole_number

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

DEFAULT_SEED, MOST_SEED = 1, 1_000_000


def _declare(parser: ArgumentParser) -> None:
    parser.add_argument("--keep", default="", metavar="DIR", help="keep both repositories in this directory")
    parser.add_argument(
        "--seed", type=whole_number(0, MOST_SEED), default=DEFAULT_SEED, metavar="N",
        help="use another timing of the agents",
    )  # fmt: skip


def demo(context: Context, args: Namespace) -> int:
    return show_shop(context, keep=args.keep, seed=args.seed)


COMMANDS = {"demo": Command(demo, _declare)}
