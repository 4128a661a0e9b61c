"""What PARSEVAL counts for one sentence, and sums of it over all sentences or those of some length."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property

from sapwood.metrics.parseval_rules import COLLINS, ParsevalRules
from sapwood.notebook import HtmlTable

__all__ = ["ParsevalScores", "ParsevalSummary", "SentenceScore"]

_LENGTHS = ((1, 10), (11, 20), (21, 30), (31, 40), (41, None))


@dataclass(frozen=True, slots=True)
class SentenceScore(HtmlTable):
    """What evalb counts for one sentence.

    Attributes
    ----------
    status : str
        ``"ok"``, ``"skip"`` (no parse) or ``"error"`` (the two trees have different words).
    length : int
        Words of the gold tree, punctuation included.
    words : int
        Words that were compared.
    matched, gold, predicted : int
        Brackets in both trees, in the gold tree, in the parse.
    crossing : int
        Brackets of the parse that cross one of the gold tree.
    tags : int
        Words with the right tag.
    retagged : bool
        Whether the two trees tag different words as punctuation, so that evalb leaves the sentence out. By the rules
        those of the gold tree were deleted in both, or the status is ``"error"``.
    """

    status: str
    length: int
    words: int = 0
    matched: int = 0
    gold: int = 0
    predicted: int = 0
    crossing: int = 0
    tags: int = 0
    retagged: bool = False

    @property
    def f1(self) -> float:
        """The harmonic mean of this sentence's precision and recall; 0 where there is nothing to match."""
        total = self.gold + self.predicted
        return 2 * self.matched / total if total else 0.0


@dataclass(frozen=True)
class ParsevalSummary(HtmlTable):
    """Scores summed over sentences. Ratios are fractions of 1; those without a denominator are 0.

    Attributes
    ----------
    sentences, errors, skipped : int
        All sentences, and among them those left out: different words, no parse.
    recall, precision, f1 : float
        Labeled recall (LR), precision (LP) and their harmonic mean.
    complete_match : float
        Sentences with no bracket wrong or missing.
    crossing : float
        Crossing brackets per sentence (CB).
    no_crossing, two_or_less_crossing : float
        Sentences with none (0 CB), with at most two (≤2 CB).
    tagging : float
        Words with the right tag.
    matched, gold, predicted : int
        Brackets.
    retagged : int
        Sentences whose trees tag different words as punctuation; evalb leaves them out. See ``ParsevalRules``.
    """

    sentences: int
    errors: int
    skipped: int
    recall: float
    precision: float
    f1: float
    complete_match: float
    crossing: float
    no_crossing: float
    two_or_less_crossing: float
    tagging: float
    matched: int
    gold: int
    predicted: int
    retagged: int

    @classmethod
    def of(cls, scores: Iterable[SentenceScore]) -> ParsevalSummary:
        """Sum up sentences."""
        scores = list(scores)
        valid = [score for score in scores if score.status == "ok"]
        matched = sum(score.matched for score in valid)
        gold = sum(score.gold for score in valid)
        predicted = sum(score.predicted for score in valid)
        recall, precision = _ratio(matched, gold), _ratio(matched, predicted)
        return cls(
            sentences=len(scores),
            errors=sum(score.status == "error" for score in scores),
            skipped=sum(score.status == "skip" for score in scores),
            recall=recall,
            precision=precision,
            f1=_ratio(2 * precision * recall, precision + recall),
            complete_match=_ratio(sum(score.matched == score.gold == score.predicted for score in valid), len(valid)),
            crossing=_ratio(sum(score.crossing for score in valid), len(valid)),
            no_crossing=_ratio(sum(score.crossing == 0 for score in valid), len(valid)),
            two_or_less_crossing=_ratio(sum(score.crossing <= 2 for score in valid), len(valid)),
            tagging=_ratio(sum(score.tags for score in valid), sum(score.words for score in valid)),
            matched=matched,
            gold=gold,
            predicted=predicted,
            retagged=sum(score.retagged for score in scores),
        )


@dataclass(frozen=True)
class ParsevalScores(HtmlTable):
    """The scores of a parsed corpus: sentence by sentence, overall, and by length.

    Attributes
    ----------
    sentences : tuple of SentenceScore
        In the order of the corpus.
    rules : ParsevalRules
        How they were counted.
    """

    sentences: tuple[SentenceScore, ...]
    rules: ParsevalRules = field(default=COLLINS)

    def _summary(self) -> dict[str, object]:
        names = ("f1", "precision", "recall", "complete_match", "crossing", "tagging")
        left_out = {name: len(places) for name, places in self.left_out.items() if places}
        figures = {name: round(getattr(self.overall, name), 4) for name in names}
        return {"sentences": len(self.sentences), **figures, **left_out, "rules": _named(self.rules)}

    @cached_property
    def overall(self) -> ParsevalSummary:
        """All sentences."""
        return ParsevalSummary.of(self.sentences)

    @cached_property
    def left_out(self) -> dict[str, tuple[int, ...]]:
        """Positions of the sentences that evalb leaves out: with other words (``errors``), ``skipped``, ``retagged``.

        The names are those of the counts in ``ParsevalSummary``; retagged sentences are errors as well where the rules
        say ``punctuation="own"``.
        """
        tests: dict[str, Callable[[SentenceScore], bool]] = {
            "errors": lambda score: score.status == "error",
            "skipped": lambda score: score.status == "skip",
            "retagged": lambda score: score.retagged,
        }
        return {
            name: tuple(at for at, score in enumerate(self.sentences) if test(score)) for name, test in tests.items()
        }

    def up_to(self, length: int | None = None) -> ParsevalSummary:
        """Sum up the sentences of at most this many words; the rules' own cut-off if none is given."""
        limit = self.rules.cutoff if length is None else length
        return ParsevalSummary.of(score for score in self.sentences if score.length <= limit)

    def by_length(
        self, ranges: Sequence[tuple[int, int | None]] = _LENGTHS
    ) -> dict[tuple[int, int | None], ParsevalSummary]:
        """Sum up sentences by their length.

        Parameters
        ----------
        ranges : sequence of (first, last)
            Lengths, both ends included; None is no limit. Ranges without a sentence are left out.
        """
        groups = {
            (first, last): [s for s in self.sentences if first <= s.length and (last is None or s.length <= last)]
            for first, last in ranges
        }
        return {bounds: ParsevalSummary.of(group) for bounds, group in groups.items() if group}


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _named(rules: ParsevalRules) -> str:
    """Say how rules differ from the usual ones.

    >>> from dataclasses import replace
    >>> _named(COLLINS), _named(replace(COLLINS, punctuation="own", cutoff=10))
    ('COLLINS', "COLLINS with cutoff=10, punctuation='own'")
    """
    given = ((one.name, getattr(rules, one.name)) for one in fields(rules))
    changed = [f"{name}={value!r}" for name, value in given if value != getattr(COLLINS, name)]
    return f"COLLINS with {', '.join(changed)}" if changed else "COLLINS"
