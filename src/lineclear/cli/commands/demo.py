"""demo: four scripted agents build a shop, without and with lineclear; --race: eight processes race."""

from __future__ import annotations

from lineclear.cli.command import Command, Context
from lineclear.cli.parser import whole_number
from lineclear.core.words.refusals import refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

DEFAULT_SEED, MOST_SEED = 1, 1_000_000


def _declare(parser: ArgumentParser) -> None:
    parser.add_argument("--keep", default="", metavar="DIR", help="keep both repositories in this directory")
    parser.add_argument(
        "--seed", type=whole_number(0, MOST_SEED), metavar="N", help="use another timing of the agents"
    )
    parser.add_argument(
        "--race", action="store_true", help="instead, let eight processes race for tasks, files and a counter"
    )


def demo(context: Context, args: Namespace) -> int:
    if not args.race:
        from lineclear.cli.demo.shop.showing import show_shop

        seed = DEFAULT_SEED if args.seed is None else args.seed
        return show_shop(context, keep=args.keep, seed=seed)
    if args.keep or args.seed is not None:
        raise refuse("usage", command="lineclear demo", message="--race takes neither --keep nor --seed")
    from lineclear.cli.demo.race.showing import show_race

    return show_race(context)


COMMANDS = {"demo": Command(demo, _declare)}
