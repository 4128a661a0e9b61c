"""Gold arguments as examples: the setting in which roles are classified, not found.

An argument that is no constituent has no portion of the tree. The rule, ``constituent``, is that it is left out, and
counted; so are continuations (``C-X``), which take their role from what they continue.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import DataError
from sapwood.notebook import HtmlTable
from sapwood.tasks.roles.feature_sets import flat_features
from sapwood.tasks.roles.predicates import VERBAL_TAGS
from sapwood.tasks.roles.pruning import constituent_of
from sapwood.tasks.roles.views import Candidate, Parse, parses_of
from sapwood.trees.array import TreeArray
from sapwood.trees.examples import Examples
from sapwood.trees.portions import portion
from sapwood.trees.propositions import RoleSentence

__all__ = ["RoleArguments"]

VIEWS = {"path": "path", "siblings": "path+siblings", "constituent": "constituent", "paf": "paf"}
"""Names of views, without what an identifier cannot hold, and the portions behind them."""


class RoleArguments(HtmlTable):
    """Arguments with their roles, sliceable like an array.

    Attributes
    ----------
    candidates : list of (View, int)
        The sentence as seen from the predicate, and the place of the argument.
    labels : array of str
        The roles.
    left_out : dict of str to int
        How many arguments each rule has left out.

    Examples
    --------
    >>> from sapwood.trees import Argument, Proposition, Tree
    >>> tree = Tree.fromstring("(S (NP (NN tea)) (VP (VBD came) (ADVP (RB late))))")
    >>> p = Proposition(1, "come", (Argument("A1", 0, 0), Argument("V", 1, 1), Argument("AM-TMP", 2, 2)))
    >>> arguments = RoleArguments.from_sentences([RoleSentence(tree.leaves(), (p,), tree)])
    >>> arguments.labels.tolist()
    ['A1', 'AM-TMP']
    >>> print(arguments.examples(["siblings"])["siblings"][0])
    (S-PATH NP-ARG (VP-PATH (VBD-PRED come) ADVP))
    """

    def __init__(
        self, candidates: Sequence[Candidate], labels: Sequence[str], left_out: dict[str, int] | None = None
    ) -> None:
        self.candidates = list(candidates)
        self.labels: NDArray[Any] = np.array(labels, dtype=str)
        self.left_out = dict(left_out or {})

    @classmethod
    def from_sentences(
        cls,
        sentences: Iterable[RoleSentence],
        *,
        verbs_only: bool = True,
        keep: Callable[[str], bool] | None = None,
    ) -> RoleArguments:
        """Collect the arguments of sentences with trees.

        Parameters
        ----------
        sentences : iterable of RoleSentence
            Gold propositions.
        verbs_only : bool
            Whether predicates that are no verbs are passed over.
        keep : callable, optional
            Takes a role and says whether to keep it.
        """
        rows: list[Candidate] = []
        labels: list[str] = []
        left_out = {"continuation": 0, "constituent": 0}
        for sentence in sentences:
            if sentence.tree is None or not sentence.propositions:
                continue
            parse = Parse(sentence.tree)
            for proposition in sentence.propositions:
                if proposition.predicate >= len(parse.words):
                    raise DataError(
                        f"{sentence.name}: predicate {proposition.predicate} of {len(parse.words)} words in the tree."
                    )
                if verbs_only and parse.tags[proposition.predicate] not in VERBAL_TAGS:
                    continue
                view = parse.view(proposition.predicate, proposition.lemma)
                given: list[int] = []
                for argument in proposition.roles:
                    node = constituent_of(parse.at, argument)
                    if argument.role.startswith("C-"):
                        left_out["continuation"] += 1
                    elif node is None:
                        left_out["constituent"] += 1
                    elif keep is None or keep(argument.role):
                        rows.append((view, node))
                        labels.append(argument.role)
                        given.append(node)
                view.given = tuple(sorted(given, key=lambda one: parse.at.first[one]))
        return cls(rows, labels, left_out)

    @property
    def shape(self) -> tuple[int]:
        """The number of arguments as a tuple."""
        return (len(self.candidates),)

    def __len__(self) -> int:
        return len(self.candidates)

    def __getitem__(self, key: Any) -> RoleArguments:
        """Return the arguments at a slice, a mask or a list of positions."""
        chosen = np.arange(len(self))[key].tolist()
        return RoleArguments([self.candidates[k] for k in chosen], self.labels[chosen].tolist())

    def sample(self, size: int, random_state: int = 0) -> RoleArguments:
        """Draw so many of them, in their order; all if there are not more."""
        if size >= len(self):
            return self
        return self[np.sort(np.random.default_rng(random_state).choice(len(self), size, replace=False))]

    def examples(self, views: Sequence[str], *, features: str = "full") -> Examples:
        """Return portions and features as views: of ``path``, ``siblings``, ``constituent``, ``paf`` and ``flat``."""
        made: dict[str, Any] = {}
        for name in views:
            if name == "flat":
                made[name] = [flat_features(view, node, features) for view, node in self.candidates]
            elif name in VIEWS:
                made[name] = TreeArray(
                    [portion(v.at, node, v.predicate, VIEWS[name], lemma=v.lemma) for v, node in self.candidates]
                )
            else:
                raise DataError(f"there is no view {name!r}; there are {', '.join([*VIEWS, 'flat'])}.")
        return Examples(**made)

    def trees(self) -> TreeArray:
        """Return the whole parses behind the arguments, each once: what a grammar is read off."""
        return TreeArray([parse.at.nodes[0] for parse in self.parses()])

    def parses(self) -> list[Parse]:
        """Return the parsed sentences behind the arguments, each once."""
        return parses_of(self.candidates)
