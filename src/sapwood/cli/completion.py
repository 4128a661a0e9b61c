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


def _bash(words: dict[tuple[str, ...], dict[str, tuple[str, ...]]]) -> str:
    commands = "\n".join(f'    "{" ".join(path)}") words="{" ".join(found)}";;' for path, found in words.items())
    values = "\n".join(
        f'    "{" ".join((*path, name))}") COMPREPLY=($(compgen -W "{" ".join(choices)}" -- "$now")); return;;'
        for path, found in words.items()
        for name, choices in found.items()
        if choices
    )
    return f"""# Completion of sapwood for bash: eval "$(sapwood completion bash)"
_sapwood() {{
  local now="${{COMP_WORDS[COMP_CWORD]}}" last="${{COMP_WORDS[COMP_CWORD-1]}}" path="" words="" word
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case " {" ".join(" ".join(path) for path in words if path)} " in
      *" $path${{path:+ }}$word "*) path="$path${{path:+ }}$word";;
    esac
  done
  case "$path $last" in
{values}
  esac
  case "$path" in
{commands}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$now"))
  [[ "$now" == -* ]] || COMPREPLY+=($(compgen -f -- "$now"))
}}
complete -o filenames -F _sapwood sapwood"""


def _zsh(words: dict[tuple[str, ...], dict[str, tuple[str, ...]]]) -> str:
    return f"""# Completion of sapwood for zsh: eval "$(sapwood completion zsh)"
autoload -Uz bashcompinit && bashcompinit
{_bash(words).partition(chr(10))[2]}"""


def _fish(words: dict[tuple[str, ...], dict[str, tuple[str, ...]]]) -> str:
    lines = ["# Completion of sapwood for fish: sapwood completion fish | source"]
    for path, found in words.items():
        inner = [name for name in found if not name.startswith("-")]
        known = " ".join(name for name in words.get(path, {}) if not name.startswith("-"))
        seen = "; and ".join(f"__fish_seen_subcommand_from {name}" for name in path) or "true"
        alone = f"{seen}; and not __fish_seen_subcommand_from {known}" if known else seen
        lines += [f"complete -c sapwood -n '{alone}' -a {name}" for name in inner]
        for name, choices in found.items():
            if name.startswith("-"):
                kind = f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
                values = f" -x -a '{' '.join(choices)}'" if choices else ""
                lines.append(f"complete -c sapwood -n '{seen}' {kind}{values}")
    return "\n".join(lines)


COMMAND = Command(
    "completion",
    "print a script that completes commands and options in your shell",
    'Print a script for a shell. bash and zsh: eval "$(sapwood completion bash)"; fish: sapwood completion fish | '
    "source. Put the line into the file that your shell reads when it starts.",
    (argument("shell", choices=_SHELLS, metavar="SHELL", help="bash, zsh or fish"),),
    _run,
)
