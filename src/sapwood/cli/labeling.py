"""What ``sapwood roles`` and ``sapwood frames`` share: text in, and the answers of ``sapwood predict``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial

from sapwood.cli.command import Argument, Command, argument
from sapwood.cli.inputs import text_or_name
from sapwood.cli.options import ENCODING, LINES, OUTPUT, PARSER, RESUME, THREADS
from sapwood.cli.predict import write_answers

__all__ = ["labeling_command"]


def labeling_command(
    name: str, help: str, description: str, formats: Argument, more: Sequence[Argument] = ()
) -> Command:
    """Make the command that asks models of a kind, by default the one of the English package.

    Parameters
    ----------
    name : str
        What is found: the command, the module in ``inference`` for its models, and the name of the default model.
    help, description : str
        As for ``Command``.
    formats : Argument
        The option ``--format``.
    more : sequence of Argument
        Further options.
    """
    arguments = (
        argument(
            "data",
            type=text_or_name,
            nargs="?",
            default="-",
            metavar="TEXT",
            help="text of one or more sentences, or a file with text, trees, CoNLL-U or JSON lines (default: standard "
            "input)",
        ),
        argument("--model", default=f"en/{name}", metavar="MODEL", help="model file or name"),
        PARSER.but(help="parse with this model instead of the parser that MODEL has"),
        LINES,
        ENCODING.but(help="encoding of files and standard input (default: %(default)s)"),
        formats.but(metavar="NAME"),
        *more,
        OUTPUT,
        RESUME,
        THREADS,
    )
    options = {one.names[-1].removeprefix("--") for one in arguments}
    defaults = {"margins": False, "dependencies": None}
    fixed = {key: value for key, value in defaults.items() if key not in options}
    return Command(name, help, description, arguments, partial(_run, name), fixed=fixed)


def _run(name: str, options: argparse.Namespace) -> None:
    from sapwood.cli.inference import load_model
    from sapwood.errors import ModelFileError

    model, inference = load_model(options.model, options.parser)
    if not inference.__name__.endswith(f".{name}"):
        raise ModelFileError(f"{options.model}: holds a {type(model).__name__}, not a model of {name}.")
    write_answers(model, inference, options)
