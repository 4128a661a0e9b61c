"""Scores of semantic roles, as the scorer of the CoNLL-2005 shared task counts them.

An argument is right if all its pieces and its label are. The rules for continued arguments (``C-X``), for predicates
and for propositions that are missing or too many are those of the official ``srl-eval.pl``; the tests compare with what
it printed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from sapwood.errors import DataError
from sapwood.metrics.counts import Counts
from sapwood.notebook import HtmlTable
from sapwood.trees.propositions import Proposition, RoleSentence, pieces

__all__ = ["RoleScores", "score_roles"]

_Whole = tuple[str, tuple[tuple[int, int], ...]]


@dataclass(frozen=True)
class RoleScores(HtmlTable):
    """What the comparison of propositions gave.

    Attributes
    ----------
    sentences, propositions : int
        Sentences, and propositions in the gold standard.
    perfect : int
        Propositions with nothing missed and nothing in excess, the predicate's own span aside.
    overall : Counts
        All arguments except ``V``.
    core, adjuncts : Counts
        Arguments with a number or A (``A0`` to ``A5``, ``AA``), and those with ``AM``; ``R-`` ones are in neither.
    unlabeled : Counts
        The same arguments as ``overall``, labels ignored.
    roles : dict of str to Counts
        One per role, ``V`` included.
    confusions : dict of (str, str) to int
        Gold and predicted role of each argument that both sides have with the same pieces.
    sentence_counts : tuple of (int, int, int)
        Correct, predicted and gold arguments of each sentence, for the paired bootstrap.
    warnings : tuple of str
        Propositions that could not be compared, and why.
    """

    sentences: int
    propositions: int
    perfect: int
    overall: Counts
    core: Counts
    adjuncts: Counts
    unlabeled: Counts
    roles: dict[str, Counts]
    confusions: dict[tuple[str, str], int]
    sentence_counts: tuple[tuple[int, int, int], ...] = field(repr=False)
    warnings: tuple[str, ...] = field(repr=False)

    @property
    def label_accuracy(self) -> float:
        """Right labels among the arguments whose pieces are right."""
        return self.overall.correct / self.unlabeled.correct if self.unlabeled.correct else 0.0

    def __str__(self) -> str:
        share = 100 * self.perfect / self.propositions if self.propositions else 0.0
        rule = "-" * 60
        rows = [_row("Overall", self.overall), "-" * 10]
        rows += [_row(role, score) for role, score in self.roles.items() if role != "V"]
        rows += [rule, *(_row(role, score) for role, score in self.roles.items() if role == "V"), rule]
        return "\n".join(
            [
                f"Number of Sentences    :      {self.sentences:6d}",
                f"Number of Propositions :      {self.propositions:6d}",
                f"Percentage of perfect props : {share:6.2f}",
                "",
                f"{'':10}   {'corr.':>6}  {'excess':>6}  {'missed':>6}   {'prec.':>6}  {'rec.':>6}  {'F1':>6}",
                rule,
                *rows,
            ]
        )


def score_roles(gold: Iterable[RoleSentence], predicted: Iterable[RoleSentence]) -> RoleScores:
    """Compare predicted propositions with gold ones.

    Parameters
    ----------
    gold, predicted : iterables of RoleSentence
        The same sentences in the same order.

    Returns
    -------
    RoleScores
        ``print`` shows it as the official scorer prints it.

    Raises
    ------
    DataError
        If the number or the lengths of the sentences differ.

    Notes
    -----
    A gold proposition whose predicate is missing among the predicted ones, or has another base form there, counts as
    missed with all its arguments. Predicted propositions without a gold one are left out, not punished.

    Examples
    --------
    >>> from sapwood.trees.propositions import Argument
    >>> words = ("dogs", "that", "bark")
    >>> gold = Proposition(2, "bark", (Argument("A0", 0, 0), Argument("R-A0", 1, 1), Argument("V", 2, 2)))
    >>> guess = Proposition(2, "bark", (Argument("A0", 0, 0), Argument("A0", 1, 1), Argument("V", 2, 2)))
    >>> scores = score_roles([RoleSentence(words, (gold,))], [RoleSentence(words, (guess,))])
    >>> scores.overall.correct, scores.overall.precision, scores.overall.recall, scores.unlabeled.f1
    (1, 0.5, 0.5, 1.0)
    """
    golds, guesses = list(gold), list(predicted)
    if len(golds) != len(guesses):
        raise DataError(
            f"there are {len(golds)} gold sentences but {len(guesses)} predicted ones; expected equally many."
        )
    counts = _Tally()
    per_sentence = []
    for number, (truth, guess) in enumerate(zip(golds, guesses, strict=True)):
        if len(truth) != len(guess):
            raise DataError(
                f"sentence {number}: {len(truth)} words in the gold standard but {len(guess)} in the prediction; "
                "the files are not aligned."
            )
        before = counts.totals()
        counts.sentence(number, truth, guess)
        per_sentence.append(tuple(b - a for a, b in zip(before, counts.totals(), strict=True)))
    return counts.scores(len(golds), per_sentence)


class _Tally:
    def __init__(self) -> None:
        self.correct: Counter[str] = Counter()
        self.golds: Counter[str] = Counter()
        self.guesses: Counter[str] = Counter()
        self.confusions: Counter[tuple[str, str]] = Counter()
        self.propositions = self.perfect = self.same_span = 0
        self.warnings: list[str] = []

    def totals(self) -> tuple[int, int, int]:
        sides = (self.correct, self.guesses, self.golds)
        first, second, third = (side.total() - side["V"] for side in sides)
        return first, second, third

    def sentence(self, number: int, truth: RoleSentence, guess: RoleSentence) -> None:
        found = {proposition.predicate: proposition for proposition in guess.propositions}
        for gold in truth.propositions:
            other = found.pop(gold.predicate, None)
            if other is None:
                self._warn(number, gold, "is missing among the predicted propositions; all its arguments are missed")
            elif other.lemma != gold.lemma:
                self._warn(number, gold, f"is predicted as {other.lemma!r}; all its arguments are missed")
                other = None
            self._proposition(_wholes(gold), _wholes(other) if other is not None else [])
        for extra in found.values():
            self._warn(number, extra, "has no gold proposition; it is left out")

    def _warn(self, number: int, proposition: Proposition, what: str) -> None:
        self.warnings.append(f"sentence {number}: {proposition.lemma!r} at word {proposition.predicate} {what}")

    def _proposition(self, golds: list[_Whole], guesses: list[_Whole]) -> None:
        self.propositions += 1
        left = {spans: role for role, spans in golds}
        wrong = 0
        for role, spans in guesses:
            self.guesses[role] += 1
            truth = left.get(spans)
            if truth is not None:
                self.confusions[truth, role] += 1
                self.same_span += role != "V" and truth != "V"
            if truth == role:
                self.correct[role] += 1
                del left[spans]
            else:
                wrong += role != "V"
        self.golds.update(role for role, _ in golds)
        missed = sum(role != "V" for role in left.values())
        self.perfect += not wrong and not missed

    def scores(self, sentences: int, per_sentence: list[tuple[int, ...]]) -> RoleScores:
        names = sorted(self.golds.keys() | self.guesses.keys())
        roles = {name: Counts(self.correct[name], self.guesses[name], self.golds[name]) for name in names}
        overall = _sum(score for role, score in roles.items() if role != "V")
        return RoleScores(
            sentences,
            self.propositions,
            self.perfect,
            overall,
            _sum(score for role, score in roles.items() if role.startswith("A") and not role.startswith("AM")),
            _sum(score for role, score in roles.items() if role.startswith("AM")),
            Counts(self.same_span, overall.predicted, overall.gold),
            roles,
            dict(self.confusions),
            tuple((a, b, c) for a, b, c in per_sentence),
            tuple(self.warnings),
        )


def _wholes(proposition: Proposition) -> list[_Whole]:
    return list(pieces(proposition.arguments))


def _sum(scores: Iterable[Counts]) -> Counts:
    return sum(scores, Counts(0, 0, 0))


def _row(name: str, score: Counts) -> str:
    excess, missed = score.predicted - score.correct, score.gold - score.correct
    return (
        f"{name:>10}   {score.correct:6.0f}  {excess:6.0f}  {missed:6.0f}   "
        f"{100 * score.precision:6.2f}  {100 * score.recall:6.2f}  {100 * score.f1:6.2f}"
    )
