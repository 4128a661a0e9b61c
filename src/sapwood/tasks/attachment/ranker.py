"""The estimator: connection paths of a treebank and rankers that choose among the trees they make."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from sapwood.checks import check_count
from sapwood.errors import DataError, ParameterError
from sapwood.fitting import SequenceInput, all_or_nothing
from sapwood.learn import RecursiveRanker
from sapwood.parse.forests import FOOT_CLASSES, word_classes
from sapwood.parse.incremental import ConnectionPaths, Forests, Missing, Root, attachment_trees, flatten_phrases
from sapwood.parse.parameter import PARSER
from sapwood.parse.reading import read_examples
from sapwood.registry import Reader, Writer, register
from sapwood.tasks.attachment.errors import AttachmentErrors, evaluate
from sapwood.trees import TreeArray

__all__ = ["AttachmentRanker"]


class AttachmentRanker(SequenceInput, BaseEstimator):
    """Choose where the next word of a sentence is attached.

    Parameters
    ----------
    ranker : estimator, optional
        Any ranker of trees with ``fit(X, y, groups)`` and ``decision_function``, such as ``KernelRanker`` or
        ``RecursiveRanker``, which is the default.
    root : {"lowest", "top"}
        Where incremental trees are rooted; see ``ConnectionPaths``.
    reduction : int or None
        Levels kept of subtrees off the right frontier; see ``ConnectionPaths.forests``.
    flatten : bool
        Whether a phrase and what is added to its right become one phrase in all trees; see ``attachment_trees``.
    min_count : float
        Connection paths seen less often are not considered.
    recombine : bool
        Whether ways up and ways down that were never seen together make paths too; see ``ConnectionPaths.recombined``.
        The right attachment is then missing less often.
    specialize : bool
        Whether to train one ranker per word class.
    classes : mapping of str to iterable of str, optional
        Tags per word class; None is Penn's.
    paths : ConnectionPaths, optional
        Connection paths to consider, such as those of a larger treebank, as they are; None takes those of the training
        trees.
    parser : parser, callable or path, optional
        Turns text and words into trees: a parser of ``sapwood.parse``, a function from a list of words to a tree, or
        the path of a model file. Its trees are taken without their words.
    batch_size : int
        Sentences whose forests are held in memory at a time in ``evaluate``.

    Attributes
    ----------
    paths_ : ConnectionPaths
        The paths in use.
    rankers_ : dict of str to estimator
        The ranker of each word class; one under ``"all"`` if they are not specialised.

    Examples
    --------
    >>> from sapwood.learn import RecursiveRanker
    >>> low, high = "(S (NP PRP) (VP VBD (NP NN (PP IN))))", "(S (NP PRP) (VP VBD (NP NN) (PP IN)))"
    >>> network = RecursiveRanker(units=5, epochs=10, learning_rate=0.05, random_state=0)
    >>> model = AttachmentRanker(network).fit([low, low, low, high])
    >>> model.score([low, low])
    1.0
    """

    paths_: ConnectionPaths
    rankers_: dict[str, Any]

    def __init__(
        self,
        ranker: Any = None,
        *,
        root: Root = "lowest",
        reduction: int | None = None,
        flatten: bool = False,
        min_count: float = 1,
        recombine: bool = False,
        specialize: bool = False,
        classes: Mapping[str, Iterable[str]] | None = None,
        paths: ConnectionPaths | None = None,
        parser: Any = None,
        batch_size: int = 200,
    ) -> None:
        self.ranker = ranker
        self.root = root
        self.reduction = reduction
        self.flatten = flatten
        self.min_count = min_count
        self.recombine = recombine
        self.specialize = specialize
        self.classes = classes
        self.paths = paths
        self.parser = parser
        self.batch_size = batch_size

    @all_or_nothing
    def fit(self, trees: Any, y: Any = None, *, validation: Any = None) -> Self:
        """Learn from the full trees of sentences.

        Parameters
        ----------
        trees : TreeArray or list of trees
            Trees over tags; see ``sapwood.parse.incremental.attachment_trees``. With a ``parser``, text of one or
            several sentences and lists of words as well.
        y : ignored
            The trees say which attachments are right.
        validation : TreeArray or list of trees, optional
            Held-out trees for rankers that stop early on them.
        """
        array = self._trees(trees, training=True)
        if not len(array):
            raise DataError("there is nothing to train on: no trees were given.")
        self.paths_ = self._own_paths(array)
        forests = self._forests(array)
        held_out = None if validation is None else self.forests(validation)
        self.rankers_ = {}
        for name, part in self._parts(forests):
            ranker = self._new_ranker(name)
            extra = {}
            if held_out is not None:
                other = held_out if name == "all" else held_out.select(self._classes_of(held_out) == name)
                if len(other):
                    extra["validation"] = (other.trees, other.y, other.groups)
            self.rankers_[name] = ranker.fit(part.trees, part.y, part.groups, **extra)
        if not self.rankers_:
            raise DataError("no word has more than one way to be attached, so there is nothing to learn; pass more.")
        return self

    @all_or_nothing
    def partial_fit(self, trees: Any, y: Any = None) -> Self:
        """Go on training with one pass over more trees, for treebanks whose forests do not fit in memory.

        Parameters
        ----------
        trees : TreeArray or list of trees
            The next trees; without the parameter ``paths``, the first ones alone say which paths there are.
        y : ignored
            The trees say which attachments are right.
        """
        array = self._trees(trees, training=True)
        if not hasattr(self, "rankers_"):
            self.paths_ = self._own_paths(array)
        rankers = dict(getattr(self, "rankers_", {}))
        for name, part in self._parts(self._forests(array)):
            # Rankers put new values in place of old ones, so that a shallow copy leaves what was learnt as it is.
            ranker = copy(rankers[name]) if name in rankers else self._new_ranker(name)
            rankers[name] = ranker.partial_fit(part.trees, part.y, part.groups)
        self.rankers_ = rankers
        return self

    def forests(self, trees: Any, *, missing: Missing = "append") -> Forests:
        """Build the forests of sentences with the paths of the training trees; see ``ConnectionPaths.forests``."""
        return self._forests(self._trees(trees), missing)

    def decision_function(self, forests: Forests) -> NDArray[np.float64]:
        """Return the utility of each tree of some forests; larger is better within a forest.

        A word class that training never met has no ranker: its trees all get 0.
        """
        check_is_fitted(self, "rankers_")
        if not isinstance(forests, Forests):
            raise DataError(f"expected Forests, as the method forests makes them, got {type(forests).__name__}.")
        utility = np.zeros(len(forests.trees))
        members = np.arange(len(forests.trees))
        for name, ranker in self.rankers_.items():
            if name == "all":
                return np.asarray(ranker.decision_function(forests.trees))
            chosen = np.repeat(self._classes_of(forests) == name, forests.sizes)
            if chosen.any():
                utility[chosen] = ranker.decision_function(forests.trees[members[chosen]])
        return utility

    def evaluate(self, trees: Any, *, missing: Missing = "append") -> AttachmentErrors:
        """Count errors on the sentences of some full trees, batch by batch."""
        check_count(self.batch_size, "batch_size")
        array = self._trees(trees)
        total = AttachmentErrors({}, {}, 0, 0)
        for begin in range(0, len(array), self.batch_size):
            forests = self._forests(array[begin : begin + self.batch_size], missing)
            total = total + evaluate(forests, self.decision_function(forests), self._tags())
        return total

    def score(self, trees: Any, y: Any = None) -> float:
        """Return the share of forests in which the right tree is ranked first."""
        return 1.0 - self.evaluate(trees).error

    def _trees(self, X: Any, *, training: bool = False) -> TreeArray:
        """Return trees as they are given, and those of the parser without their words."""
        if isinstance(X, TreeArray):
            return flatten_phrases(X) if self.flatten else X
        reading = read_examples(X, self.parser, what="sentence")
        reading.need_trees()
        reading.report(training=training)
        parsed = [one.tree for each in reading.examples for one in each if one.how != "given"]
        bare = iter(attachment_trees(parsed))
        trees = [one.tree if one.how == "given" else next(bare) for each in reading.examples for one in each]
        return self._trees(TreeArray(trees))

    def _forests(self, trees: TreeArray, missing: Missing = "append") -> Forests:
        check_is_fitted(self, "paths_")
        return self.paths_.forests(trees, missing=missing, reduction=self.reduction, min_count=self.min_count)

    def _own_paths(self, trees: TreeArray) -> ConnectionPaths:
        if self.paths is None:
            paths = ConnectionPaths.from_trees(trees, root=self.root)
            return paths.recombined() if self.recombine else paths
        if not isinstance(self.paths, ConnectionPaths):
            raise ParameterError(f"paths must be ConnectionPaths or None, got {type(self.paths).__name__}.")
        if self.paths.root != self.root:
            raise ParameterError(f"the paths are of trees with root={self.paths.root!r}, not {self.root!r}.")
        return self.paths

    def _new_ranker(self, name: str) -> Any:
        ranker: Any = clone(self.ranker) if self.ranker is not None else RecursiveRanker()
        # Rankers of several classes must not take each other's checkpoint for their own.
        if self.specialize and getattr(ranker, "checkpoint", None) is not None:
            ranker.set_params(checkpoint=f"{os.fspath(ranker.checkpoint)}.{name}")
        return ranker

    def _tags(self) -> Mapping[str, Iterable[str]]:
        return FOOT_CLASSES if self.classes is None else self.classes

    def _classes_of(self, forests: Forests) -> NDArray[Any]:
        return word_classes(forests.feet, self._tags())

    def _parts(self, forests: Forests) -> Iterator[tuple[str, Forests]]:
        if not self.specialize:
            if len(forests):
                yield "all", forests
            return
        classes = self._classes_of(forests)
        for name in (*self._tags(), "other"):
            if (classes == name).any():
                yield name, forests.select(classes == name)


_STORED_OTHERWISE = ("ranker", "classes", "paths", "parser")


def _write(model: AttachmentRanker, writer: Writer) -> dict[str, Any]:
    check_is_fitted(model, "rankers_")
    return {
        "params": writer.parameters(model, _STORED_OTHERWISE),
        "classes": None if model.classes is None else {name: list(tags) for name, tags in model.classes.items()},
        "paths": writer.part(model.paths_),
        "given": model.paths is not None,
        "parser": PARSER.write(model.parser, writer),
        "rankers": {name: writer.part(ranker) for name, ranker in model.rankers_.items()},
    }


def _read(data: dict[str, Any], reader: Reader) -> AttachmentRanker:
    rankers = {name: reader.part(part) for name, part in data["rankers"].items()}
    if not rankers or not all(hasattr(ranker, "decision_function") for ranker in rankers.values()):
        raise reader.fail("it holds no rankers")
    # All rankers are clones of one, whatever they have learnt.
    template = clone(next(iter(rankers.values())))
    if getattr(template, "checkpoint", None) is not None:
        # It is that of one class, and the training is over.
        template.set_params(checkpoint=None)
    paths = reader.part(data["paths"], ConnectionPaths)
    classes = None if data["classes"] is None else reader.table(data["classes"], reader.texts)
    others = {"ranker": template, "classes": classes, "paths": paths if data["given"] else None}
    # Files of the first version hold no parser.
    model = reader.make(AttachmentRanker, data, parser=PARSER.read(data.get("parser"), reader), **others)
    model.paths_, model.rankers_ = paths, rankers
    return cast("AttachmentRanker", model)


register("AttachmentRanker", AttachmentRanker, _write, _read)
