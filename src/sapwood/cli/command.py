"""What a command is: its arguments as data, and the function that runs it.

Everything that all commands share is added here: ``--quiet`` and ``--verbose``, and advice where a name is mistyped.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any, NoReturn

__all__ = ["Argument", "Command", "CommandParser", "OneOf", "argument"]


@dataclass(frozen=True)
class Argument:
    """An argument of a command: its names, and what ``argparse`` should know of it."""

    names: tuple[str, ...]
    settings: dict[str, Any]

    def but(self, **settings: Any) -> Argument:
        """Return the same argument with other settings."""
        return replace(self, settings={**self.settings, **settings})

    def add_to(self, parser: argparse._ActionsContainer) -> None:
        """Add the argument to a parser or a group; its help says what its default is."""
        text, default = self.settings["help"], self.settings.get("default")
        if default is not None and default is not False and default != [] and "default" not in text:
            shown = " ".join(map(str, default)) if isinstance(default, list) else default
            text = f"{text} (default: {shown})" if text else f"default: {shown}"
        parser.add_argument(*self.names, **{**self.settings, "help": text})


def argument(*names: str, **settings: Any) -> Argument:
    """Describe an argument, in the words of ``argparse.ArgumentParser.add_argument``."""
    return Argument(names, settings)


class OneOf:
    """Options of which at most one may be given."""

    def __init__(self, *arguments: Argument) -> None:
        self._arguments = arguments

    def add_to(self, parser: argparse._ActionsContainer) -> None:
        """Add the options to a parser."""
        group = parser.add_mutually_exclusive_group()
        for one in self._arguments:
            one.add_to(group)


_VERBOSITY = OneOf(
    argument("-q", "--quiet", action="store_true", help="print results, warnings and errors only"),
    argument("-v", "--verbose", action="store_true", help="also print versions, files and timings"),
)


@dataclass(frozen=True)
class Command:
    """A command, which runs a function or leads to further commands.

    Attributes
    ----------
    name, help, description : str
        What is typed, the line in the list of commands, and what its own help says first.
    arguments : sequence
        What the command takes.
    run : callable, optional
        Takes the options; returns the exit code, None for 0.
    commands : callable
        Returns the commands that it leads to, where it does not run.
    kind : str
        What those are called.
    writes : tuple of str
        Options that name files to be written: that they can be is checked before anything is read.
    epilog : str, optional
        What its help says last.
    fixed : mapping
        Options that it does not have, and whose values are always these, for code that serves several commands.
    waits : bool
        Whether it waits for others to ask, which is no work to show the length of.
    """

    name: str
    help: str
    description: str
    arguments: Sequence[Argument | OneOf] = ()
    run: Callable[[argparse.Namespace], int | None] | None = None
    commands: Callable[[], Iterable[Command]] = tuple
    kind: str = "command"
    writes: tuple[str, ...] = ("output", "json", "html", "svg")
    epilog: str | None = None
    fixed: Mapping[str, Any] = field(default_factory=dict)
    waits: bool = False

    def add_to(self, commands: argparse._SubParsersAction[CommandParser]) -> None:
        """Add the command, and those that it leads to, to the commands of a parser."""
        parser = commands.add_parser(self.name, help=self.help, description=self.description, epilog=self.epilog)
        for one in self.arguments:
            one.add_to(parser)
        if self.run is not None:
            _VERBOSITY.add_to(parser)
            parser.set_defaults(command=self, called=parser.prog, **self.fixed)
        else:
            parser.add_commands(self.commands(), self.kind, required=True)


class _HelpFormatter(argparse.HelpFormatter):
    """Leaves room for the names of commands, which the base class takes for shorter than they are shown."""

    def add_argument(self, action: argparse.Action) -> None:
        super().add_argument(action)
        if isinstance(action, argparse._SubParsersAction):
            self._action_max_length = max(self._action_max_length, *(len(name) + 4 for name in action.choices))


class CommandParser(argparse.ArgumentParser):
    """A parser that takes no abbreviations, and says what may have been meant where a name is unknown."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{**settings, "allow_abbrev": False, "formatter_class": _HelpFormatter})
        self._leads_on = False

    def add_commands(self, commands: Iterable[Command], kind: str, *, required: bool = False) -> None:
        """Add commands to choose from."""
        self._leads_on = True
        found = self.add_subparsers(title=f"{kind}s", metavar=kind.upper(), required=required)
        for one in commands:
            one.add_to(found)

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse, and refuse what is not known, where the command is known that it was meant for."""
        given = sys.argv[1:] if args is None else list(args)
        if not self._leads_on:
            # Before anything that may be missing: a mistyped option is missing too.
            for text in given[: given.index("--") if "--" in given else None]:
                name = text.partition("=")[0]
                if name.startswith("--") and " " not in name and name not in self._option_string_actions:
                    self.error(f"unknown option {name}{_meant(name, self._option_string_actions)}")
        found, rest = super().parse_known_args(given, namespace)
        if rest:
            self.error(f"unexpected {rest[0]!r}")
        return found, rest

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            names = [str(name) for name in action.choices]
            what = action.metavar.lower() if isinstance(action, argparse._SubParsersAction) else "value"  # type: ignore[union-attr]
            advice = _meant(str(value), names) or f"; choose from {', '.join(names)}"
            raise argparse.ArgumentError(None if what != "value" else action, f"unknown {what} {value!r}{advice}")

    def error(self, message: str) -> NoReturn:
        """End with the exit code of a command line that cannot be understood."""
        self.exit(2, f"{self.prog}: {message}\nSee {self.prog} --help.\n")


def _meant(name: str, names: Iterable[str]) -> str:
    """Say what may have been meant by a name that is not among these."""
    known = list(names)
    # What is short for a name is nearer to it than a word that looks like it.
    close = [one for one in known if len(name) > 3 and one.startswith(name)] or get_close_matches(name, known, 1, 0.7)
    return f"; did you mean {close[0]}?" if close else ""
