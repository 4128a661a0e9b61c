"""``sapwood explain``: say why a model decides as it does, or why two trees are similar."""

from __future__ import annotations

import argparse
from itertools import islice
from types import ModuleType
from typing import Any

from sapwood.cli.color import color_scores
from sapwood.cli.command import Command, argument
from sapwood.cli.inputs import read_named, text_or_name
from sapwood.cli.options import HTML, KERNEL, READING, THREADS, flag, integer

__all__ = ["COMMAND"]


def _run(options: argparse.Namespace) -> None:
    from sapwood.errors import ParameterError

    if options.kernel and (options.model or options.label):
        raise ParameterError("--label and --model belong to a model; leave them out with --kernel.")
    if not options.kernel and (options.drop_traces or options.drop_function_tags):
        raise ParameterError(
            "--drop-traces and --drop-function-tags belong to --kernel; a model is asked with trees as they are."
        )
    if options.second is None and not options.model:
        raise ParameterError("name a file of trees too; see sapwood explain --help.")
    if options.kernel:
        _show([_explain_kernel(options)], options, "Why two trees are similar")
        return
    model, inference = _load(options)
    label = None if options.label is None else _class(model, options.label)
    explanations: list[Any] = []
    if options.model:
        if not hasattr(model, "fragments"):
            raise ParameterError(f"--model: a {type(model).__name__} has no fragments of its own; give data instead.")
        names = list(model.classes_) if label is None else [label]
        if label is None and len(names) == 2:
            names = names[1:]
        explanations += [model.fragments(name, top=options.top) for name in names]
    if options.second is not None:
        # What has blanks in it may be the example itself.
        data = text_or_name(options.second) if len(options.second.split()) > 1 else options.second
        options.data, options.label, options.format, options.lines = data, label, None, False
        options.margins = False
        found = inference.explain(model, options, inference.items(model, options))
        explanations += islice(found, options.count)
        if not explanations:
            raise ParameterError(f"{options.second}: holds nothing to explain; give trees, or text and a parser.")
    _show(explanations, options, "Why these decisions")


def _load(options: argparse.Namespace) -> tuple[Any, ModuleType]:
    from sapwood.cli.inference import load_model
    from sapwood.errors import ModelFileError

    model, inference = load_model(options.first, options.parser)
    if not hasattr(inference, "explain"):
        raise ModelFileError(
            f"{options.first}: holds a {type(model).__name__}, which does not say why it decides so; there are "
            "explanations of classifiers of trees, questions and pairs, of role labelers, frame parsers and rerankers."
        )
    return model, inference


def _explain_kernel(options: argparse.Namespace) -> Any:
    from sapwood.kernels import parse_kernel
    from sapwood.trees import concatenate

    kernel = parse_kernel(options.kernel)
    sides = read_named(options, options.first, options.second)
    # What a kernel learns from trees, such as a grammar, it learns from all that are there.
    kernel = kernel.bind(concatenate(sides))
    return kernel.explain(*(trees[0:1] for trees in sides), top=options.top)


def _class(model: Any, name: str) -> Any:
    """Find the class that is written like this; labels need not be text."""
    import numpy as np

    from sapwood.errors import ParameterError

    classes = getattr(model, "roles_", None) or getattr(model, "classes_", None)
    if classes is None:
        raise ParameterError(f"--label: a {type(model).__name__} has no classes; leave the option out.")
    for label in np.asarray(classes).tolist():
        if str(label) == name:
            return label
    raise ParameterError(f"there is no class {name!r}; the classes are {', '.join(map(str, classes))}.")


def _show(explanations: list[Any], options: argparse.Namespace, title: str) -> None:
    if options.html:
        from sapwood.draw.html import page
        from sapwood.writing import atomic_write

        atomic_write(options.html, page(title, [found.to_html() for found in explanations]).encode())
    else:
        print(color_scores("\n\n".join(found.to_text(width=80) for found in explanations)))


COMMAND = Command(
    "explain",
    "say why a model decides so, or why two trees are similar",
    "With MODEL and DATA: show what nodes, fragments and features add to the score of each tree, question, pair, "
    "argument or parse. DATA is what sapwood predict takes: trees, or text if the model has a parser or with --parser. "
    "With --kernel and two files: show the fragments that the first trees of both share.",
    (
        argument("first", metavar="MODEL|A", help="a model file; with --kernel, a file of bracketed trees or CoNLL-U"),
        argument(
            "second",
            metavar="DATA|B",
            nargs="?",
            help="file of trees, one or label<TAB>tree per line, questions, pairs or text, or -; or the text itself",
        ),
        KERNEL,
        argument("--label", metavar="CLASS", help="the class to argue for (default: the predicted one)"),
        flag("--model", "list the heaviest fragments of the model itself"),
        integer("--top", "fragments to list", 10),
        integer("--count", "decisions to explain", 3),
        HTML.but(help="write a page with pictures instead of text"),
        *READING,
        THREADS,
    ),
    _run,
)
