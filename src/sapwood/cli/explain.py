"""``sapwood explain``: say why a model decides as it does, or why two trees are similar."""

from __future__ import annotations

import argparse
from typing import Any

from sapwood.cli.command import Command, argument
from sapwood.cli.inputs import read_named
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
    model = _classifier(options.first)
    explanations: list[Any] = []
    if options.model:
        names = list(model.classes_) if options.label is None else [_class(model, options.label)]
        if options.label is None and len(names) == 2:
            names = names[1:]
        explanations += [model.fragments(name, top=options.top) for name in names]
    if options.second is not None:
        from sapwood.cli.inference.trees import read

        options.data = options.second
        trees, _ = read(options, labels=False)
        label = None if options.label is None else _class(model, options.label)
        for row in range(min(options.count, len(trees))):
            explanations.append(model.explain(trees[row : row + 1], label=label, top=options.top))
    _show(explanations, options, "Why these decisions")


def _classifier(path: str) -> Any:
    from sapwood.errors import ModelFileError
    from sapwood.files import load
    from sapwood.learn import KernelSVC
    from sapwood.tasks.questions import QuestionClassifier

    model = load(path)
    # Asked with trees like any other classifier, one of questions makes the shapes that it looks at by itself.
    if not isinstance(model, (KernelSVC, QuestionClassifier)):
        raise ModelFileError(
            f"{path}: holds a {type(model).__name__}, not a classifier; train one with sapwood train trees."
        )
    return model


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
    from sapwood.errors import ParameterError

    for label in model.classes_.tolist():
        if str(label) == name:
            return label
    raise ParameterError(f"there is no class {name!r}; the classes are {', '.join(map(str, model.classes_))}.")


def _show(explanations: list[Any], options: argparse.Namespace, title: str) -> None:
    if options.html:
        from sapwood.draw.html import page
        from sapwood.writing import atomic_write

        atomic_write(options.html, page(title, [found._repr_html_() for found in explanations]).encode())
    else:
        print("\n\n".join(found.to_text(width=80) for found in explanations))


COMMAND = Command(
    "explain",
    "say why a model decides so, or why two trees are similar",
    "With MODEL and TREES: show what each node of each tree adds to the score of its class, and the heaviest "
    "fragments. With --kernel and two files: show the fragments that the first trees of both share.",
    (
        argument("first", metavar="MODEL|A", help="a model file; with --kernel, a file of bracketed trees"),
        argument(
            "second",
            metavar="TREES|B",
            nargs="?",
            help="trees, one or label<TAB>tree per line, or - for standard input",
        ),
        KERNEL,
        argument("--label", metavar="CLASS", help="the class to argue for (default: the predicted one)"),
        flag("--model", "list the heaviest fragments of the model itself"),
        integer("--top", "fragments to list", 10),
        integer("--count", "trees to explain", 3),
        HTML.but(help="write a page with pictures instead of text"),
        *READING,
        THREADS,
    ),
    _run,
)
