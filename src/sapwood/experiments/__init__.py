"""One module per published set of tables, on top of ``tasks``.

An experiment is a module with ``run(setting)``, a generator that yields a ``Table`` as soon as it is complete, so that
nothing finished is lost when a long run is stopped. It has no arguments of its own beyond ``Setting``; what can be
left out is named in the registry below. ``demo`` holds the same on the built-in corpus, in seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module

from sapwood.errors import ParameterError
from sapwood.experiments.setting import Setting
from sapwood.experiments.tables import Table
from sapwood.lazy import public_names
from sapwood.notebook import HtmlTable

__all__ = ["EXPERIMENTS", "Setting", "run"]

__dir__ = public_names(__name__)


@dataclass(frozen=True)
class Experiment(HtmlTable):
    """What the command line has to know of an experiment without importing it.

    Parameters
    ----------
    summary : str
        One line for ``sapwood experiment --help``.
    tables : tuple of str
        The names of the tables that it can make, in the order in which it makes them.
    """

    summary: str
    tables: tuple[str, ...]


# Name of the module in this package → what it does. Kept here so that listing experiments imports none of them.
EXPERIMENTS: dict[str, Experiment] = {
    "parsing": Experiment(
        "the parsers on the Penn Treebank sample, the English Web Treebank and biomedical articles",
        (
            *("sample", "curve", "cost", "web"),
            *("spans-web", "spans-articles", "spans-sample", "spans-share"),
            *("spans-length", "spans-label", "spans-calibration", "spans-speed", "spans-two"),
            "adaptation",
        ),
    ),
    "questions": Experiment(
        "which kind of answer a question asks for: TREC by bags of words, tree kernels and similar words",
        ("validation", "test", "context", "leaves", "curve", "time"),
    ),
    "attachment": Experiment(
        "where the next word of a sentence hangs: a tree kernel against a recursive network",
        (
            *("forests", "iterations", "pca", "subsets", "states", "losses"),
            *("subsets-flat", "states-flat", "losses-flat", "curve", "cost", "curve-flat", "cost-flat"),
        ),
    ),
    "reranking": Experiment(
        "can learning from trees improve a parser's first choice? a tree kernel against a recursive network",
        ("bllip", "own", "own-40", "spans"),
    ),
    "pairs": Experiment(
        "do syntax, meaning, relaxed grammar and context add to shared words in telling which sentences mean the same?",
        ("quora", "quora-kernels", "msr", "msr-kernels", "timing"),
    ),
    "roles": Experiment(
        "semantic roles: kernels on given arguments, and labelling from trees to propositions",
        (
            *(
                "coverage",
                "kernels",
                "curve",
                "features",
                "all-data",
                "linear",
                "end-to-end",
                "adaptation",
                "parsed",
                "context",
                "context-labeling",
                "fragments",
                "cost",
            ),
            *("kernels-ewt-propbank", "kernels-conll05", "kernels-propbank-wsj"),
            *("curve-ewt-propbank", "curve-conll05", "curve-propbank-wsj"),
            *("end-to-end-ewt-propbank", "end-to-end-conll05", "end-to-end-propbank-wsj"),
        ),
    ),
    "frames": Experiment(
        "arguments of frames under constraints (Das, Martins and Smith 2012)",
        (
            "tuning",
            "gold",
            "coverage",
            "faithful",
            "best",
            "pieces",
            "context-tuning",
            "context",
            "context-1.7",
            "convergence",
            "penalty",
            "identification",
        ),
    ),
}


def run(name: str, setting: Setting) -> Iterator[Table]:
    """Run an experiment and yield its tables as they become complete.

    Parameters
    ----------
    name : str
        One of ``EXPERIMENTS``.
    setting : Setting
        Where the data is, the seed, and which tables are wanted.
    """
    if name not in EXPERIMENTS:
        raise ParameterError(f"there is no experiment {name!r}; there are {', '.join(EXPERIMENTS) or 'none'}.")
    known = EXPERIMENTS[name].tables
    for table in setting.tables:
        if table not in known:
            raise ParameterError(f"experiment {name!r} has no table {table!r}; it has {', '.join(known)}.")
    tables: Iterator[Table] = import_module(f"sapwood.experiments.{name}").run(setting)
    return tables
