"""``sapwood score``: parses, labels, roles, rankings and n-best lists against the truth, as tables or JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from sapwood.cli.arguments import Subparsers

if TYPE_CHECKING:
    from sapwood.metrics import ParsevalRules, ParsevalSummary

__all__ = ["add_parser", "run"]


def add_parser(subparsers: Subparsers[argparse.ArgumentParser]) -> None:
    """Describe the command."""
    parser = subparsers.add_parser(
        "score",
        help="score parses, labels, roles or rankings against the truth",
        description="Score parses, labels, roles or rankings as the field scores them.",
    )
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="WHAT")

    parses = _kind(kinds, "parses", "PARSEVAL, as evalb with COLLINS.prm counts it")
    parses.add_argument("gold", help="file of gold trees")
    parses.add_argument("predicted", help="file of parses, in the same order")
    _rules(parses)

    labels = _kind(kinds, "labels", "accuracy and micro-F1; one label per line")
    labels.add_argument("gold", help="file of gold labels")
    labels.add_argument("predicted", help="file of predicted labels")
    labels.add_argument("--ignore", action="append", default=[], metavar="LABEL", help="leave out of F1; repeatable")

    ranking = _kind(kinds, "ranking", "ranking losses; lines of group, relevance and score, tabs between")
    ranking.add_argument("file", help="the file")
    _at(ranking)

    nbest = _kind(kinds, "nbest", "n-best lists with gold trees: first parse, oracle and ranking losses")
    nbest.add_argument("file", help="n-best lists, JSON lines")
    _at(nbest)
    _rules(nbest)

    roles = _kind(kinds, "roles", "semantic roles, as the CoNLL-2005 scorer counts them")
    roles.add_argument("gold", help="gold propositions in columns")
    roles.add_argument("predicted", help="predicted propositions, in the same order")

    compare = _kind(kinds, "compare", "are two systems different? McNemar, χ² and paired bootstrap")
    compare.add_argument("gold", help="file of gold labels, or of gold trees with --trees")
    compare.add_argument("first", help="what the first system predicted")
    compare.add_argument("second", help="what the second system predicted")
    compare.add_argument("--trees", action="store_true", help="the files hold trees: bootstrap their F1")
    compare.add_argument("--samples", type=int, default=10_000, help="bootstrap resamples (default 10000)")
    compare.add_argument("--random-state", type=int, default=0, help="seed of the bootstrap (default 0)")
    _rules(compare)

    for one in (parses, labels, ranking, nbest, roles, compare):
        one.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def _kind(kinds: Subparsers[argparse.ArgumentParser], name: str, what: str) -> argparse.ArgumentParser:
    return kinds.add_parser(name, help=what, description=f"{what[0].upper()}{what[1:]}.")


def _rules(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--prm", metavar="FILE", help="an evalb parameter file instead of COLLINS.prm")
    parser.add_argument("--delete", action="append", default=[], metavar="LABEL", help="one more label not to count")


def _at(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--at", type=int, action="append", metavar="R", help="give the loss L_R; repeatable (default 1 2 3 5 10)"
    )


def run(args: argparse.Namespace) -> int:
    """Score and print."""
    kinds: dict[str, Callable[[argparse.Namespace], tuple[dict[str, Any], str]]] = {
        "parses": _parses,
        "labels": _labels,
        "ranking": _ranking,
        "nbest": _nbest,
        "roles": _roles,
        "compare": _compare,
    }
    result, table = kinds[args.kind](args)
    print(json.dumps(result, indent=2, ensure_ascii=False, allow_nan=False) if args.json else table)
    return 0


def _parses(args: argparse.Namespace) -> tuple[dict[str, Any], str]:
    from dataclasses import asdict

    from sapwood.metrics import parseval
    from sapwood.trees import read_trees

    rules = _chosen_rules(args)
    scores = parseval(read_trees(args.gold), read_trees(args.predicted), rules=rules)
    groups = {"all": scores.overall, f"<={rules.cutoff}": scores.up_to()}
    groups |= {f"{first}-{last or ''}": found for (first, last), found in scores.by_length().items()}
    return {name: asdict(summary) for name, summary in groups.items()}, _parseval_table(groups)


def _labels(args: argparse.Namespace) -> tuple[dict[str, Any], str]:
    from sapwood.metrics import score_labels

    scores = score_labels(_lines(args.gold), _lines(args.predicted), ignore=args.ignore)
    rows = [["label", "P", "R", "F1", "gold", "predicted", "correct"]]
    for label, one in [*scores.classes.items(), ("micro", scores.micro)]:
        figures = [f"{100 * value:.2f}" for value in (one.precision, one.recall, one.f1)]
        rows.append([str(label), *figures, str(one.gold), str(one.predicted), str(one.correct)])
    result = {
        "count": scores.count,
        "accuracy": scores.accuracy,
        "micro": _class(scores.micro),
        "classes": {str(label): _class(one) for label, one in scores.classes.items()},
    }
    return result, f"accuracy {100 * scores.accuracy:.2f} on {scores.count:,} items\n\n{_table(rows)}"


def _class(score: Any) -> dict[str, Any]:
    names = ("precision", "recall", "f1", "gold", "predicted", "correct")
    return {name: getattr(score, name) for name in names}


def _ranking(args: argparse.Namespace) -> tuple[dict[str, Any], str]:
    from sapwood.sources import lines

    groups, relevance, scores = [], [], []
    for line in lines(args.file):
        fields = line.text.split("\t")
        try:
            group, truth, score = fields
            relevance.append(float(truth))
            scores.append(float(score))
        except ValueError:
            raise line.fault("expected a group, a relevance and a score with tabs between them") from None
        groups.append(group)
    return _losses(relevance, scores, groups, args.at)


def _nbest(args: argparse.Namespace) -> tuple[dict[str, Any], str]:
    from dataclasses import asdict

    from sapwood.corpora import iter_nbest
    from sapwood.errors import DataError
    from sapwood.metrics import ParsevalSummary, score_forest

    rules = _chosen_rules(args)
    groups: list[int] = []
    relevance: list[float] = []
    scores: list[float] = []
    first, oracle = [], []
    for number, one in enumerate(iter_nbest(args.file)):
        if one.gold is None:
            raise DataError(f"{args.file}: list {number + 1} has no gold tree, so it cannot be scored.")
        found = score_forest(one.gold, one.parses, rules=rules)
        groups += [number] * len(found)
        relevance += [score.f1 for score in found]
        scores += one.scores.tolist()
        first.append(found[int(one.scores.argmax())])
        oracle.append(max(found, key=lambda score: score.f1))
    result, table = _losses(relevance, scores, groups, args.at)
    summaries = {"first": ParsevalSummary.of(first), "oracle": ParsevalSummary.of(oracle)}
    result |= {name: asdict(summary) for name, summary in summaries.items()}
    return result, f"{_parseval_table(summaries)}\n\n{table}"


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
    return result, f"{found.groups:,} groups, {found.pairs:,} pairs\n\n{_table(rows)}"


def _roles(args: argparse.Namespace) -> tuple[dict[str, Any], str]:
    import sys

    from sapwood.corpora import read_props
    from sapwood.metrics import score_roles

    scores = score_roles(read_props(args.gold), read_props(args.predicted))
    for warning in scores.warnings[:20]:
        print(f"warning: {warning}", file=sys.stderr)
    if len(scores.warnings) > 20:
        print(f"warning: and {len(scores.warnings) - 20} more of this kind", file=sys.stderr)
    rows = {"overall": scores.overall, "unlabelled": scores.unlabelled, **scores.roles}
    record = {
        name: {"correct": s.correct, "predicted": s.predicted, "gold": s.gold, "f1": s.f1} for name, s in rows.items()
    }
    counts = {name: getattr(scores, name) for name in ("sentences", "propositions", "perfect")}
    return counts | {"label_accuracy": scores.label_accuracy, "scores": record}, str(scores)


def _compare(args: argparse.Namespace) -> tuple[dict[str, Any], str]:
    from dataclasses import asdict

    import numpy as np

    from sapwood.errors import DataError
    from sapwood.metrics import chi_squared, mcnemar, paired_bootstrap, parseval
    from sapwood.trees import read_trees

    if args.trees:
        rules, gold = _chosen_rules(args), read_trees(args.gold)
        runs = [parseval(gold, read_trees(path), rules=rules).sentences for path in (args.first, args.second)]
        # Only sentences that both systems could be scored on are comparable.
        both = [(a, b) for a, b in zip(*runs, strict=True) if a.status == b.status == "ok"]
        if not both:
            raise DataError("no sentence has a scorable parse from both systems.")
        counts = [np.array([[one.matched, one.predicted, one.gold] for one in run]) for run in zip(*both, strict=True)]
        right = [run[:, 0] == run[:, 1:].max(axis=1) for run in counts]
        boot = paired_bootstrap(*counts, metric=_f1, samples=args.samples, random_state=args.random_state)
        values, what, items = [_f1(run.sum(axis=0)) for run in counts], "F1", "sentences wholly right"
    else:
        truth = _lines(args.gold)
        guesses = [_lines(path) for path in (args.first, args.second)]
        for path, guess in zip((args.first, args.second), guesses, strict=True):
            if len(guess) != len(truth):
                raise DataError(f"{path}: holds {len(guess)} labels, {args.gold} {len(truth)}.")
        right = [np.array([a == b for a, b in zip(truth, guess, strict=True)]) for guess in guesses]
        boot = paired_bootstrap(*right, samples=args.samples, random_state=args.random_state)
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
    return result, f"{head}\n\n{_table(rows)}"


def _f1(sums: Any) -> float:
    matched, predicted, gold = (float(value) for value in sums)
    return 2 * matched / (predicted + gold) if predicted + gold else 0.0


def _chosen_rules(args: argparse.Namespace) -> ParsevalRules:
    from sapwood.metrics import COLLINS, ParsevalRules

    rules = COLLINS if args.prm is None else ParsevalRules.from_file(args.prm)
    return rules.deleting(*args.delete)


def _lines(path: str) -> list[str]:
    from sapwood.sources import lines

    found = []
    for line in lines(path):
        if not line.text.strip():
            raise line.fault("a blank line; expected one label per line")
        found.append(line.text.strip())
    return found


def _parseval_table(groups: dict[str, ParsevalSummary]) -> str:
    rows = [["length", "trees", "LR", "LP", "F1", "CB", "0CB", "<=2CB", "exact", "tags", "errors", "skip"]]
    for name, one in groups.items():
        shares = (one.no_crossing, one.two_or_less_crossing, one.complete_match, one.tagging)
        rows.append(
            [name, f"{one.sentences}"]
            + [f"{100 * value:.2f}" for value in (one.recall, one.precision, one.f1)]
            + [f"{one.crossing:.2f}"]
            + [f"{100 * value:.2f}" for value in shares]
            + [f"{one.errors}", f"{one.skipped}"]
        )
    retagged = max((one.retagged for one in groups.values()), default=0)
    if not retagged:
        return _table(rows)
    return (
        f"{_table(rows)}\n\nSentences with other words tagged as punctuation than in the gold tree: {retagged}."
        "\nThe gold tags decided which words to delete; evalb leaves such sentences out."
    )


def _table(rows: list[list[str]]) -> str:
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    # A table that would not fit a terminal is set closer.
    gap = "  " if sum(widths) + 2 * (len(widths) - 1) <= 80 else " "
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        lines.append(gap.join(cells).rstrip())
    return "\n".join(lines)
