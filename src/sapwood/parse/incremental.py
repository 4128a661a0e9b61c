"""Incremental trees: how each word of a sentence hangs from the tree over the words before it, and how else it could.

The tree over the first words of a sentence grows by one word at a time. Each word comes with a *connection path* from a
node on the right frontier, the anchor, down to its tag; where the anchor is not in the tree yet, labels are put above
the root first. The paths of a treebank are a grammar, and all ways to attach a word by it are a *forest* of alternative
trees, of which one is right. Choosing among them belongs in ``learn`` and ``tasks``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sapwood import _core, settings
from sapwood.checks import check_amount, check_choice, check_limit
from sapwood.errors import DataError, ParameterError
from sapwood.lazy import public_names
from sapwood.parse.forests import Forests
from sapwood.trees import Tree, TreeArray
from sapwood.trees.transforms import delexicalize, rewrite

__all__ = ["ConnectionPaths", "Forests", "attachment_trees"]

__dir__ = public_names(__name__)

Root = Literal["lowest", "top"]
Missing = Literal["append", "keep", "skip"]
_MISSING: dict[Missing, int] = {"append": 0, "keep": 1, "skip": 2}
_NONE = np.uint32(0xFFFFFFFF)


class ConnectionPath(NamedTuple):
    """How a word hangs from an incremental tree.

    Attributes
    ----------
    up : tuple of str
        Labels to put above the root first, from the root upwards; the last is the anchor's. Empty if the anchor is
        in the tree.
    anchor : str
        The label of the anchor; with ``up``, that of the root.
    down : tuple of str
        Labels from below the anchor down to the tag of the word.
    """

    up: tuple[str, ...]
    anchor: str
    down: tuple[str, ...]

    def __str__(self) -> str:
        above = "".join(f" ↑ {label}" for label in self.up)
        return f"{self.anchor}{above}" + "".join(f" ↓ {label}" for label in self.down)


def attachment_trees(trees: TreeArray | Iterable[Any], *, flatten: bool = False) -> TreeArray:
    """Turn trees over words into trees over their tags, which is what attachment looks at.

    Traces, function tags and X over X should have been left out when the trees were read; see ``sapwood.read_trees``.

    Parameters
    ----------
    trees : TreeArray or iterable of trees
        Trees whose leaves are words under tags.
    flatten : bool
        Whether phrases are flat (``flatten_phrases``). Otherwise the first word of a phrase has to be attached as deep
        as it will turn out to stand, which depends on words to come.

    Examples
    --------
    >>> print(attachment_trees(["(S (NP (DT the) (NN dog)) (VP (VBD barked)))"])[0])
    (S (NP DT NN) (VP VBD))
    >>> print(attachment_trees(["(NP (NP (DT the) (NN dog)) (PP (IN in) (NP (NN fog))))"], flatten=True)[0])
    (NP DT NN (PP IN (NP NN)))
    """
    bare = TreeArray(delexicalize(_single_trees(trees)))
    return flatten_phrases(bare) if flatten else bare


def flatten_phrases(trees: TreeArray) -> TreeArray:
    """Leave out brackets that group words of one phrase.

    A phrase that begins with a phrase of its own label, beside others, takes the children of that one, and every phrase
    takes those of its NML, which newer treebanks have inside noun phrases and the Wall Street Journal has not.

    >>> print(flatten_phrases(TreeArray(["(NP (NP (NP DT NN) PP) SBAR)"]))[0])
    (NP DT NN PP SBAR)
    >>> print(flatten_phrases(TreeArray(["(NP DT (NML NN NN) NN)"]))[0])
    (NP DT NN NN NN)
    """

    def rule(node: Tree) -> Tree:
        # Children are flat already.
        flat = [part for child in node.children for part in (child.label == "NML" and child.children) or (child,)]
        if len(flat) > 1 and flat[0].label == node.label and flat[0].children:
            flat[:1] = flat[0].children
        return Tree(node.label, flat) if flat else node

    return rewrite(trees, rule)


class ConnectionPaths:
    """The connection paths of a treebank with their counts: a grammar of attachments.

    Parameters
    ----------
    paths : mapping of ConnectionPath to float
        Paths and how often each was seen.
    root : {"lowest", "top"}
        Where incremental trees are rooted: at the lowest node over all words so far, so that later words may grow the
        tree upwards, or at the root of the finished tree, which gives no upward paths but knows what comes.

    Examples
    --------
    >>> paths = ConnectionPaths.from_trees(["(S (NP DT NN) (VP VBD))", "(S (NP DT JJ NN) (VP VBD))"])
    >>> for path, count in paths.items():
    ...     print(f"{count:g}  {path}")
    1  DT ↑ NP ↓ NN
    2  NP ↑ S ↓ VP ↓ VBD
    1  DT ↑ NP ↓ JJ
    1  NP ↓ NN
    """

    def __init__(self, paths: Mapping[ConnectionPath, float], *, root: Root = "lowest") -> None:
        check_choice(root, "root", ("lowest", "top"))
        self.root: Root = root
        self._native = _core.attach.Paths()
        for path, count in paths.items():
            up, anchor, down = path
            if not down or not all(isinstance(label, str) and label for label in (*up, anchor, *down)):
                raise ParameterError(f"{path!r} is no connection path; expected labels, and at least a tag in down.")
            if not 0 < count < float("inf"):
                raise ParameterError(f"the count of {ConnectionPath(*path)} must be above 0, got {count!r}.")
            self._native.add(list(up), anchor, list(down), float(count))

    @classmethod
    def from_trees(cls, trees: TreeArray | Iterable[Any], *, root: Root = "lowest") -> ConnectionPaths:
        """Collect the paths of all words of trees over tags; see ``attachment_trees``."""
        result = cls({}, root=root)
        array = _over_tags(trees)
        result._native.learn(array._arena, array._roots, root == "top")
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (dict(self.items()), self.root)

    def __len__(self) -> int:
        return len(self._native)

    def __getitem__(self, number: int) -> ConnectionPath:
        if not 0 <= number < len(self):
            raise IndexError(f"path {number} is out of range for {len(self)} paths")
        up, anchor, down = self._native.path(number)
        return ConnectionPath(tuple(up), anchor, tuple(down))

    def __iter__(self) -> Iterator[ConnectionPath]:
        return (self[number] for number in range(len(self)))

    def __repr__(self) -> str:
        return f"ConnectionPaths({len(self):,} paths of {int(self.counts.sum()):,} words, root={self.root!r})"

    @property
    def counts(self) -> NDArray[np.float64]:
        """How often each path was seen."""
        return self._native.counts()

    def items(self) -> Iterator[tuple[ConnectionPath, float]]:
        """Yield paths with their counts."""
        return zip(self, self.counts.tolist(), strict=True)

    def recombined(self, *, min_up: float = 2, min_down: float = 5) -> ConnectionPaths:
        """Let every way up to a label be followed by every way down from it, though never seen together.

        Most paths that a treebank turns out to lack grow the tree upwards, for there are many roots and each is rare.
        New paths count as seen once. They are tried at the root only, so forests hardly grow.

        Parameters
        ----------
        min_up : float
            How often a way up must have been seen, whatever followed it.
        min_down : float
            How often a way down from the label must have been seen, with or without a way up.

        Examples
        --------
        >>> paths = ConnectionPaths.from_trees(["(S (NP PRP) (VP VBD))", "(S (NP DT NN) (VP VBD) .)"])
        >>> for path in list(paths.recombined(min_up=1, min_down=1))[len(paths) :]:
        ...     print(path)
        PRP ↑ NP ↑ S ↓ .
        NP ↑ S ↓ .
        """
        check_amount(min_up, "min_up")
        check_amount(min_down, "min_down")
        found = dict(self.items())
        ups: defaultdict[tuple[str, tuple[str, ...]], float] = defaultdict(float)
        downs: defaultdict[tuple[str, tuple[str, ...]], float] = defaultdict(float)
        for (up, anchor, down), count in found.items():
            downs[up[-1] if up else anchor, down] += count
            if up:
                ups[anchor, up] += count
        below: defaultdict[str, list[tuple[str, ...]]] = defaultdict(list)
        for (label, down), count in downs.items():
            if count >= min_down:
                below[label].append(down)
        for (anchor, up), count in ups.items():
            if count >= min_up:
                for down in below[up[-1]]:
                    found.setdefault(ConnectionPath(up, anchor, down), 1.0)
        return ConnectionPaths(found, root=self.root)

    def forests(
        self,
        trees: TreeArray | Iterable[Any],
        *,
        missing: Missing = "append",
        reduction: int | None = None,
        min_count: float = 1,
    ) -> Forests:
        """Build, for every word but the first of each tree, all trees that attach it to the right tree before it.

        Parameters
        ----------
        trees : TreeArray or iterable of trees
            Full trees over tags, which also say which attachment is right.
        missing : {"append", "keep", "skip"}
            What to do where no known path gives the right tree: add it to the forest, keep the forest without it (every
            choice is then an error), or leave the forest out.
        reduction : int, optional
            Of subtrees off the right frontier keep so many levels only, before the word is attached; 1 leaves their
            labels. None keeps them whole.
        min_count : float
            Paths seen less often are not considered.

        Returns
        -------
        Forests
            Forests of at least two trees; words with one way only are left out and counted in ``alone``.

        Examples
        --------
        >>> trees = ["(S (NP PRP) (VP VBD (NP NN) (PP IN)))", "(S (NP PRP) (VP VBD (NP NN (PP IN))))"]
        >>> forests = ConnectionPaths.from_trees(trees).forests(trees[:1])
        >>> forests
        Forests(1 forests of 2 trees)
        >>> for tree, right in zip(forests.trees, forests.y):
        ...     print(right, tree)
        1 (S (NP PRP) (VP VBD (NP NN) (PP IN)))
        0 (S (NP PRP) (VP VBD (NP NN (PP IN))))
        """
        check_choice(missing, "missing", _MISSING)
        check_limit(reduction, "reduction")
        check_amount(min_count, "min_count")
        array = _over_tags(trees)
        with settings.progress_bar(len(array), "Attachments", "sentences") as progress:
            arena, roots, depth, path, ends, gold, sentence, word, foot, feet, counts = self._native.forests(
                array._arena,
                array._roots,
                self.root == "top",
                _MISSING[missing],
                # No tree comes near what the native core cannot count.
                min(reduction or 0, 1 << 31),
                float(min_count),
                progress,
            )
        return Forests(
            trees=TreeArray._from_arena(arena, roots),
            ends=ends.astype(np.int64),
            gold=np.where(gold == _NONE, -1, gold.astype(np.int64)),
            depth=depth.astype(np.int64),
            path=np.where(path == _NONE, -1, path.astype(np.int64)),
            sentence=sentence.astype(np.int64),
            word=word.astype(np.int64),
            feet=np.array(feet, dtype=str)[foot] if feet else np.zeros(0, dtype=str),
            steps=counts[0],
            missing=counts[1],
            alone=counts[2],
        )


def _rebuilt(paths: dict[ConnectionPath, float], root: Root) -> ConnectionPaths:
    return ConnectionPaths(paths, root=root)


def _single_trees(trees: TreeArray | Iterable[Any]) -> TreeArray:
    array = TreeArray(trees)
    if array.has_bags:
        raise DataError("attachment needs one tree per element; this array holds bags of trees.")
    return array


def _over_tags(trees: TreeArray | Iterable[Any]) -> TreeArray:
    array = _single_trees(trees)
    # Trees are gone through node by node, and shared subtrees may stand for more nodes than memory holds.
    if len(array) and array.node_count() > 1_000_000_000:
        raise DataError("the trees have more than a billion nodes; pass fewer trees at a time.")
    return array
