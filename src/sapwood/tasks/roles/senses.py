"""Which sense a predicate has: a log-linear choice among the senses that were seen, by what stands around it.

Base forms with one sense, and those that were never seen, are the business of ``lexicon``. Arguments play no part here,
and senses none in finding arguments.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from sapwood.layouts import Field
from sapwood.learn.candidates import CandidateSets
from sapwood.learn.loglinear import LogLinear
from sapwood.registry import Reader, Writer
from sapwood.tasks.roles.predicates import is_auxiliary
from sapwood.tasks.roles.views import Parse, View
from sapwood.trees.heads import bare_label
from sapwood.trees.propositions import RoleSentence

__all__ = ["SENSES", "PredicateSenses"]

# Of the penalties 0.03, 0.1, 0.3 and 1 the best on the development data of the English Web Treebank, by a little; a
# table a quarter as large is a little worse.
_ALPHA, _EPOCHS, _BITS = 0.3, 5, 20
# Words this far from the predicate count wherever they are.
_NEAR = 5


class PredicateSenses:
    """Chooses between the senses of predicates.

    Parameters
    ----------
    known : dict of str to tuple of str
        For each base form that was seen with several rolesets, these.
    model : LogLinear
        The weights.
    """

    def __init__(self, known: dict[str, tuple[str, ...]], model: LogLinear) -> None:
        self.known, self.model = known, model

    @classmethod
    def learn(cls, sentences: Iterable[RoleSentence], *, seed: int = 0) -> PredicateSenses | None:
        """Learn from sentences with trees and rolesets; None if no base form has several."""
        seen: dict[str, dict[str, None]] = {}
        marked: list[tuple[View, str]] = []
        for sentence in sentences:
            some = [one for one in sentence.propositions if one.roleset]
            if sentence.tree is None or not some:
                continue
            parse = Parse(sentence.tree)
            for one in some:
                seen.setdefault(one.lemma, {})[one.roleset] = None
                marked.append((parse.view(one.predicate, one.lemma), one.roleset))
        known = {lemma: tuple(sorted(names)) for lemma, names in sorted(seen.items()) if len(names) > 1}
        chosen = [(view, known[view.lemma].index(name)) for view, name in marked if view.lemma in known]
        if not chosen:
            return None
        model = LogLinear(alpha=_ALPHA, epochs=_EPOCHS, bits=_BITS, prune=1e-3, random_state=seed)
        views = [view for view, _ in chosen]
        return cls(known, model.fit(_sets(views, known), [right for _, right in chosen]))

    def checked(self, sentences: Iterable[RoleSentence]) -> PredicateSenses:
        """Leave out base forms for which the most frequent sense of these sentences is right more often."""
        seen: dict[str, Counter[str]] = {}
        right: Counter[str] = Counter()
        for sentence in sentences:
            some = [one for one in sentence.propositions if one.roleset and one.lemma in self.known]
            if sentence.tree is None or not some:
                continue
            parse = Parse(sentence.tree)
            chosen = self.choose([parse.view(one.predicate, one.lemma) for one in some])
            for one, sense in zip(some, chosen, strict=True):
                seen.setdefault(one.lemma, Counter())[one.roleset] += 1
                right[one.lemma] += sense == one.roleset
        wrong = {lemma for lemma, counts in seen.items() if right[lemma] < max(counts.values())}
        return PredicateSenses({lemma: names for lemma, names in self.known.items() if lemma not in wrong}, self.model)

    def choose(self, views: Sequence[View]) -> list[str]:
        """Return the likeliest sense of each predicate; empty text where there is no choice."""
        found = [""] * len(views)
        open_ = [at for at, view in enumerate(views) if view.lemma in self.known]
        if open_:
            sets = _sets([views[at] for at in open_], self.known)
            tables = sets.tables(self.model.decision_function(sets))
            for at, table in zip(open_, tables, strict=True):
                found[at] = self.known[views[at].lemma][int(table[0].argmax())]
        return found


def _sets(views: Sequence[View], known: dict[str, tuple[str, ...]]) -> CandidateSets:
    """Make the features of every sense: all that stands around the predicate, each with the sense."""
    rows = []
    for view in views:
        # Checksums are the same on every machine, and a sense begins where another may, not with the same state.
        around = [text.encode("utf-8", "surrogatepass") for text in _around(view)]
        starts = [zlib.crc32(name.encode()) for name in known[view.lemma]]
        rows.append([[zlib.crc32(text, start) for text in around] for start in starts])
    return CandidateSets.of(rows, keys=[[[]]] * len(rows))


def _around(view: View) -> list[str]:
    """Describe what stands around a predicate."""
    at, parse, word = view.at, view.parse, view.predicate
    above = at.parent[view.tag]
    found = [
        "",
        f"form {parse.lower[word]}",
        f"tag {parse.tags[word]}",
        f"voice {view.voice}",
        f"particle {view.particle}",
        f"production {view.subcategorization}",
        f"helps {is_auxiliary(at, word)}",
    ]
    for step in (-2, -1, 1, 2):
        place = word + step
        inside = 0 <= place < len(parse.words)
        found.append(f"{step} {parse.lower[place] if inside else ''}")
        if abs(step) == 1:
            found.append(f"{step} tag {parse.tags[place] if inside else ''}")
    found += [
        f"near {parse.lower[place]}"
        for place in range(max(0, word - _NEAR), min(len(parse.words), word + _NEAR + 1))
        if place != word and parse.words[place].isalpha()
    ]
    if above >= 0:
        found.append(f"above {at.labels[above]} {at.labels[at.parent[above]] if at.parent[above] >= 0 else ''}")
        # What follows inside the phrase, and what follows the phrase of a noun.
        beside = [node for node in at.children[above] if node > view.tag]
        if at.parent[above] >= 0 and bare_label(at.labels[above]) == "NP":
            beside += [node for node in at.children[at.parent[above]] if node > above]
        for node in beside:
            label, head = bare_label(at.labels[node]), parse.lower[parse.heads[node]]
            found += [f"with {label}", f"with {label} {head}"]
            if label == "PP":
                last = at.children[node][-1]
                found.append(f"with {head} {parse.lower[parse.heads[last]]}")
    before = [node for node in view.noun_phrases if at.last[node] < word]
    if before:
        found.append(f"after {parse.lower[parse.heads[before[-1]]]}")
    return list(dict.fromkeys(found))


def _write(senses: PredicateSenses | None, writer: Writer) -> Any:
    return None if senses is None else {"known": senses.known, "model": writer.part(senses.model)}


def _read(data: Any, reader: Reader) -> PredicateSenses | None:
    if data is None:
        return None
    known = reader.table(data["known"], lambda names: tuple(reader.texts(names)))
    if not all(known.values()):
        raise reader.fail("a predicate has no senses to choose from")
    return PredicateSenses(known, reader.part(data["model"], LogLinear))


SENSES = Field(_write, _read, absent=None)
"""How model files hold what chooses senses; those of older versions do not."""
