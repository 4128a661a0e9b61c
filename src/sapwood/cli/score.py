"""``sapwood score``: parses, labels, roles, rankings and n-best lists against the truth, as tables or JSON."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from sapwood.cli.command import Argument, Command, argument
from sapwood.cli.options import ENCODING, JSON, SEED, choice, flag, integer
from sapwood.cli.output import report
from sapwood.cli.tables import label_report, parseval_report, parseval_table, text_table

if TYPE_CHECKING:
    from sapwood.metrics import ParsevalRules

__all__ = ["COMMAND"]


def _parses(options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    from sapwood.metrics import parseval
    from sapwood.trees import read_trees

    gold, predicted = (read_trees(path, encoding=options.encoding) for path in (options.gold, options.predicted))
    return parseval_report(parseval(gold, predicted, rules=_chosen_rules(options)))


def _tags(options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    from sapwood.metrics import score_tags
    from sapwood.trees import read_trees

    gold, predicted = (read_trees(path, encoding=options.encoding) for path in (options.gold, options.predicted))
    return label_report(score_tags(gold, predicted))


def _labels(options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    from sapwood.metrics import score_labels

    return label_report(
        score_labels(_lines(options.gold, options), _lines(options.predicted, options), ignore=options.ignore)
    )


def _ranking(options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    from sapwood.text_files import lines

    groups, relevance, scores = [], [], []
    for line in lines(options.file, encoding=options.encoding):
        fields = line.text.split("\t")
        try:
            group, truth, score = fields
            relevance.append(float(truth))
            scores.append(float(score))
        except ValueError:
            raise line.fault("expected a group, a relevance and a score with tabs between them") from None
        groups.append(group)
    return _losses(relevance, scores, groups, options.at)


def _nbest(options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    from dataclasses import asdict

    from sapwood import corpora
    from sapwood.errors import DataError
    from sapwood.metrics import ParsevalSummary, score_forest

    rules = _chosen_rules(options)
    groups: list[int] = []
    relevance: list[float] = []
    scores: list[float] = []
    first, oracle = [], []
    for number, one in enumerate(corpora.nbest.read(options.file)):
        if one.gold is None:
            raise DataError(f"{options.file}: list {number + 1} has no gold tree, so it cannot be scored.")
        found = score_forest(one.gold, one.parses, rules=rules)
        groups += [number] * len(found)
        relevance += [score.f1 for score in found]
        scores += one.scores.tolist()
        first.append(found[int(one.scores.argmax())])
        oracle.append(max(found, key=lambda score: score.f1))
    result, table = _losses(relevance, scores, groups, options.at)
    summaries = {"first": ParsevalSummary.of(first), "oracle": ParsevalSummary.of(oracle)}
    result |= {name: asdict(summary) for name, summary in summaries.items()}
    return result, f"{parseval_table(summaries)}\n\n{table}"


def _losses(relevance: Any, scores: Any, groups: Any, at: Sequence[int] | None) -> tuple[dict[str, Any], str]:
    from sapwood.metrics import score_ranking

    found = score_ranking(relevance, scores, groups=groups, at=tuple(at) if at else (1, 2, 3, 5, 10))
    rows = [["loss", "value"], *([f"L{r}", f"{loss:.4f}"] for r, loss in found.setwise.items())]
    rows += [["pairwise", f"{found.pairwise:.4f}"], ["mean rank", f"{found.mean_rank:.3f}"]]
    result = {
        "groups": found.groups,
        "setwise": {str(r): loss for r, loss in found.setwise.items()},
        "pairwise": found.pairwise,
        "pairs": found.pairs,
        "wrong_pairs": found.wrong_pairs,
        "mean_rank": found.mean_rank,
    }
    return result, f"{found.groups:,} groups, {found.pairs:,} pairs\n\n{text_table(rows)}"


def _roles(options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    import sys

    from sapwood import corpora
    from sapwood.metrics import score_roles

    scores = score_roles(list(corpora.conll05.read(options.gold)), list(corpora.conll05.read(options.predicted)))
    for warning in scores.warnings[:20]:
        print(f"warning: {warning}", file=sys.stderr)
    if len(scores.warnings) > 20:
        print(f"warning: and {len(scores.warnings) - 20} more of this kind", file=sys.stderr)
    rows = {"overall": scores.overall, "unlabeled": scores.unlabeled, **scores.roles}
    record = {
        name: {"correct": s.correct, "predicted": s.predicted, "gold": s.gold, "f1": s.f1} for name, s in rows.items()
    }
    counts = {name: getattr(scores, name) for name in ("sentences", "propositions", "perfect")}
    return counts | {"label_accuracy": scores.label_accuracy, "scores": record}, str(scores)


def _compare(options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    from dataclasses import asdict

    import numpy as np

    from sapwood.errors import DataError
    from sapwood.metrics import chi_squared, mcnemar, paired_bootstrap, parseval
    from sapwood.trees import read_trees

    if options.trees:
        rules, gold = _chosen_rules(options), read_trees(options.gold, encoding=options.encoding)
        runs = [
            parseval(gold, read_trees(path, encoding=options.encoding), rules=rules).sentences
            for path in (options.first, options.second)
        ]
        # Only sentences that both systems could be scored on are comparable.
        both = [(a, b) for a, b in zip(*runs, strict=True) if a.status == b.status == "ok"]
        if not both:
            raise DataError("no sentence has a scorable parse from both systems.")
        counts = [np.array([[one.matched, one.predicted, one.gold] for one in run]) for run in zip(*both, strict=True)]
        right = [run[:, 0] == run[:, 1:].max(axis=1) for run in counts]
        boot = paired_bootstrap(*counts, metric=_f1, samples=options.samples, random_state=options.seed)
        values, what, items = [_f1(run.sum(axis=0)) for run in counts], "F1", "sentences wholly right"
    else:
        truth = _lines(options.gold, options)
        guesses = [_lines(path, options) for path in (options.first, options.second)]
        for path, guess in zip((options.first, options.second), guesses, strict=True):
            if len(guess) != len(truth):
                raise DataError(f"{path}: holds {len(guess)} labels, {options.gold} {len(truth)}.")
        right = [np.array([a == b for a, b in zip(truth, guess, strict=True)]) for guess in guesses]
        boot = paired_bootstrap(*right, samples=options.samples, random_state=options.seed)
        values, what, items = [float(run.mean()) for run in right], "accuracy", "labels right"
    tests: dict[str, Any] = {"mcnemar": asdict(mcnemar(*right))}
    table = [[int(run.sum()), int((~run).sum())] for run in right]
    # With nothing right or nothing wrong in both, there is no table to test.
    tests["chi_squared"] = asdict(chi_squared(table)) if np.array(table).sum(axis=0).all() else None
    result = {"metric": what, "first": values[0], "second": values[1], "bootstrap": asdict(boot), **tests}
    rows = [["test", "on", "statistic", "p"]]
    rows.append(["paired bootstrap", what, f"{100 * boot.difference:+.2f}", f"{boot.p_value:.4g}"])
    for name, test in tests.items():
        if test is not None:
            rows.append([name, items, f"{test['statistic']:.4g}", f"{test['p_value']:.4g}"])
    head = f"{what}: first {100 * values[0]:.2f}, second {100 * values[1]:.2f}, difference "
    head += f"{100 * boot.difference:+.2f} [{100 * boot.low:+.2f}, {100 * boot.high:+.2f}]"
    return result, f"{head}\n\n{text_table(rows)}"


def _f1(sums: Any) -> float:
    matched, predicted, gold = (float(value) for value in sums)
    return 2 * matched / (predicted + gold) if predicted + gold else 0.0


def _chosen_rules(options: argparse.Namespace) -> ParsevalRules:
    from dataclasses import replace

    from sapwood.metrics import COLLINS, ParsevalRules

    rules = COLLINS if options.prm is None else ParsevalRules.from_file(options.prm)
    return replace(rules.deleting(*options.delete), punctuation=options.punctuation)


def _lines(path: str, options: argparse.Namespace) -> list[str]:
    from sapwood.text_files import lines

    found = []
    for line in lines(path, encoding=options.encoding):
        if not line.text.strip():
            raise line.fault("a blank line; expected one label per line")
        found.append(line.text.strip())
    return found


_GOLD, _PREDICTED = (argument(name, metavar=name.upper()) for name in ("gold", "predicted"))
_AT = integer("--at", "give the loss L_R; repeatable (default: 1 2 3 5 10)").but(action="append", metavar="R")
_RULES = (
    argument("--prm", metavar="FILE", help="an evalb parameter file instead of COLLINS.prm"),
    argument("--delete", action="append", default=[], metavar="LABEL", help="one more label not to count; repeatable"),
    choice(
        "--punctuation", ("gold", "own"), "whose tags say what is punctuation: the gold tree's, or each tree's as evalb"
    ),
)


def _kind(
    name: str, what: str, score: Callable[[argparse.Namespace], tuple[dict[str, Any], str]], *arguments: Argument
) -> Command:
    return Command(
        name,
        what,
        f"{what[0].upper()}{what[1:]}.",
        (*arguments, JSON),
        lambda options: report(options, *score(options)),
    )


COMMAND = Command(
    "score",
    "score parses, labels, roles or rankings against the truth",
    "Score parses, labels, roles or rankings as the field scores them.",
    commands=lambda: [
        _kind(
            "parses",
            "PARSEVAL, as evalb with COLLINS.prm counts it",
            _parses,
            _GOLD.but(help="file of gold trees"),
            _PREDICTED.but(help="file of parses, in the same order"),
            *_RULES,
            ENCODING,
        ),
        _kind(
            "tags",
            "tags of the words of parses, punctuation included",
            _tags,
            _GOLD.but(help="file of gold trees"),
            _PREDICTED.but(help="file of parses, in the same order"),
            ENCODING,
        ),
        _kind(
            "labels",
            "accuracy and micro-F1; one label per line",
            _labels,
            _GOLD.but(help="file of gold labels"),
            _PREDICTED.but(help="file of predicted labels"),
            argument("--ignore", action="append", default=[], metavar="LABEL", help="leave out of F1; repeatable"),
            ENCODING,
        ),
        _kind(
            "ranking",
            "ranking losses; lines of group, relevance and score, tabs between",
            _ranking,
            argument("file", metavar="FILE", help="the file"),
            _AT,
            ENCODING,
        ),
        _kind(
            "nbest",
            "n-best lists with gold trees: first parse, oracle and ranking losses",
            _nbest,
            argument("file", metavar="FILE", help="n-best lists, JSON lines"),
            _AT,
            *_RULES,
        ),
        _kind(
            "roles",
            "semantic roles, as the CoNLL-2005 scorer counts them",
            _roles,
            _GOLD.but(help="gold propositions in columns"),
            _PREDICTED.but(help="predicted propositions, in the same order"),
        ),
        _kind(
            "compare",
            "are two systems different? McNemar, χ² and paired bootstrap",
            _compare,
            _GOLD.but(help="file of gold labels, or of gold trees with --trees"),
            argument("first", metavar="FIRST", help="what the first system predicted"),
            argument("second", metavar="SECOND", help="what the second system predicted"),
            flag("--trees", "the files hold trees: bootstrap their F1"),
            integer("--samples", "bootstrap resamples", 10_000),
            *_RULES,
            ENCODING,
            SEED,
        ),
    ],
    kind="kind",
)
