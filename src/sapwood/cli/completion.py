"""``sapwood completion``: a script that lets a shell complete commands, options and their values."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from sapwood.cli.command import Command, argument

__all__ = ["COMMAND"]

_SHELLS = ("bash", "zsh", "fish")


def _run(options: argparse.Namespace) -> None:
    from sapwood.cli.running import build_parser

    words = dict(_words(build_parser(), ()))
    print({"bash": _bash, "zsh": _zsh, "fish": _fish}[options.shell](words))


def _words(
    parser: argparse.ArgumentParser, path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], dict[str, tuple[str, ...]]]]:
    """Yield, for each command by its path, what may follow it: names, and for options with choices their values."""
    found: dict[str, tuple[str, ...]] = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                found[name] = ()
                yield from _words(inner, (*path, name))
        else:
            values = tuple(map(str, action.choices or ()))
            found.update(dict.fromkeys(action.option_strings, values))
            if not action.option_strings:
                found.update(dict.fromkeys(values, ()))
    yield path, found


def _cases(words: dict[tuple[str, ...], dict[str, tuple[str, ...]]], offer: str) -> str:
    """Write, for bash and zsh, which command is being written, and what to offer after it."""
    values = "\n".join(
        f'    "{" ".join((*path, name))}") {offer.format(" ".join(choices))}; return;;'
        for path, found in words.items()
        for name, choices in found.items()
        if choices
    )
    names = "\n".join(f'    "{" ".join(path)}") {offer.format(" ".join(found))};;' for path, found in words.items())
    return f"""    case " {" ".join(" ".join(path) for path in words if path)} " in
      *" $at${{at:+ }}$word "*) at="$at${{at:+ }}$word";;
    esac
  done
  case "$at $last" in
{values}
  esac
  case "$at" in
{names}
  esac"""


def _bash(words: dict[tuple[str, ...], dict[str, tuple[str, ...]]]) -> str:
    return f"""# Completion of sapwood for bash: eval "$(sapwood completion bash)"
_sapwood() {{
  local now="${{COMP_WORDS[COMP_CWORD]}}" last="${{COMP_WORDS[COMP_CWORD-1]}}" at="" word
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
{_cases(words, 'COMPREPLY=($(compgen -W "{}" -- "$now"))')}
  [[ "$now" == -* ]] || COMPREPLY+=($(compgen -f -- "$now"))
}}
complete -o filenames -F _sapwood sapwood"""


def _zsh(words: dict[tuple[str, ...], dict[str, tuple[str, ...]]]) -> str:
    return f"""# Completion of sapwood for zsh: eval "$(sapwood completion zsh)"
_sapwood() {{
  local now="${{words[CURRENT]}}" last="${{words[CURRENT-1]}}" at="" word
  for word in "${{(@)words[2,CURRENT-1]}}"; do
{_cases(words, "compadd -- {}")}
  [[ "$now" == -* ]] || _files
}}
(( $+functions[compdef] )) || {{ autoload -Uz compinit && compinit }}
compdef _sapwood sapwood"""


def _fish(words: dict[tuple[str, ...], dict[str, tuple[str, ...]]]) -> str:
    paths = " ".join(f'"{" ".join(path)}"' for path in words if path)
    lines = [
        f"""# Completion of sapwood for fish: sapwood completion fish | source
function __sapwood_at
  set -l at
  for word in (commandline -opc)[2..]
    set -l next (string join -- ' ' $at $word)
    contains -- "$next" {paths}; and set -a at $word
  end
  test "$at" = "$argv"
end"""
    ]
    for path, found in words.items():
        here = f"complete -c sapwood -n '__sapwood_at {' '.join(path)}'"
        for name, choices in found.items():
            values = f" -x -a '{' '.join(choices)}'" if choices else ""
            option = f"-l {name[2:]}{values}" if name.startswith("--") else f"-s {name[1:]}{values}"
            lines.append(f"{here} {option}" if name.startswith("-") else f"{here} -a {name}")
    return "\n".join(lines)


COMMAND = Command(
    "completion",
    "print a script that completes commands and options in your shell",
    'Print a script for a shell. bash and zsh: eval "$(sapwood completion bash)"; fish: sapwood completion fish | '
    "source. Put the line into the file that your shell reads when it starts.",
    (argument("shell", choices=_SHELLS, metavar="SHELL", help="bash, zsh or fish"),),
    _run,
)
