"""Span parsers trained on the treebanks, each once: the cache keeps them, and states of training that was stopped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec

from sapwood.errors import DataError
from sapwood.experiments.parsing.treebanks import ARTICLES, SAMPLE, WEB, part, single_trees
from sapwood.experiments.setting import Setting
from sapwood.files import load, save
from sapwood.parse.spans.parser import SpanParser
from sapwood.resuming import fingerprint
from sapwood.trees.array import TreeArray, concatenate
from sapwood.trees.tree import Tree
from sapwood.words.encoder import Encoder

__all__ = ["AVERAGES", "MODELS", "SAMPLE_FOLDS", "WEB_FOLDS", "Models", "Recipe", "fold_of"]

# How many parsers parse what they were not trained on: the web treebank for roles, the sample for reranking.
WEB_FOLDS, SAMPLE_FOLDS = 2, 4
# Layers of MiniLM that help a parser: the last one is about whole sentences.
_ENCODER, _LAYERS = "minilm", (1, 3, 4, 5)


@dataclass(frozen=True)
class Recipe:
    """What a parser is trained on, and how.

    Attributes
    ----------
    treebanks : tuple of str
        Their training parts are put together; so are their development parts, by which the best epoch is chosen.
    encoder : bool
        With the vectors of MiniLM, or with nothing but the treebank.
    epochs, seed : int
        Passes, and the seed.
    everything : bool
        Whether the development part is learnt from, too; then the last epoch is taken.
    share : int
        Every so manieth tree is learnt from.
    fold : pair of int, optional
        Which part of neighbouring trees is left out, of how many, to be parsed by one that has not seen it.
    """

    treebanks: tuple[str, ...]
    encoder: bool
    epochs: int
    seed: int = 0
    everything: bool = False
    share: int = 1
    fold: tuple[int, int] | None = None

    @property
    def data(self) -> str:
        """What it is trained on, in words."""
        names = {WEB: "web", ARTICLES: "articles", SAMPLE: "sample"}
        joined = " + ".join(names[treebank] for treebank in self.treebanks)
        return joined if self.share == 1 else f"1/{self.share} of {joined}"


MODELS: dict[str, Recipe] = {
    **{f"web-encoder-{seed}": Recipe((WEB,), True, 16, seed) for seed in range(6)},
    "web-plain": Recipe((WEB,), False, 25),
    "web-plain-short": Recipe((WEB,), False, 8),
    "both-encoder": Recipe((WEB, ARTICLES), True, 12),
    "both-encoder-1": Recipe((WEB, ARTICLES), True, 12, 1),
    "both-plain": Recipe((WEB, ARTICLES), False, 8),
    "both-plain-12": Recipe((WEB, ARTICLES), False, 12),
    "sample-dev-encoder": Recipe((SAMPLE,), True, 16),
    "sample-dev-plain": Recipe((SAMPLE,), False, 30),
    "sample-encoder": Recipe((SAMPLE,), True, 16, everything=True),
    "sample-plain": Recipe((SAMPLE,), False, 30, everything=True),
    **{f"web-encoder-share-{share}": Recipe((WEB,), True, 16, share=share) for share in (8, 4)},
    **{f"web-encoder-fold-{fold}": Recipe((WEB,), True, 8, fold=(fold, WEB_FOLDS)) for fold in range(WEB_FOLDS)},
    **{
        f"sample-encoder-fold-{fold}": Recipe((SAMPLE,), True, 12, everything=True, fold=(fold, SAMPLE_FOLDS))
        for fold in range(SAMPLE_FOLDS)
    },
}

AVERAGES = {
    **{f"web-encoder-two-{seed}": (f"web-encoder-{seed}", f"web-encoder-{seed + 1}") for seed in (0, 2, 4)},
    "web-encoder-three": tuple(f"web-encoder-{seed}" for seed in range(3)),
    "both-encoder-two": ("both-encoder", "both-encoder-1"),
}
"""Parsers of several networks: averages of those with seeds in a row, which is what ``networks=`` makes."""


def fold_of(count: int, fold: int, folds: int) -> slice:
    """Return which of so many trees belong to a fold.

    >>> [fold_of(5, fold, 2) for fold in range(2)]
    [slice(0, 2, None), slice(2, 5, None)]
    """
    return slice(count * fold // folds, count * (fold + 1) // folds)


class Models:
    """Trained parsers by name.

    Parameters
    ----------
    setting : Setting
        Where the treebanks and the cache are.
    recipes : mapping of str to Recipe, optional
        How parsers are trained, by name; those of the experiments by default.
    """

    def __init__(self, setting: Setting, recipes: Mapping[str, Recipe] | None = None) -> None:
        self._setting = setting
        self._recipes = MODELS if recipes is None else recipes
        self._loaded: dict[str, SpanParser] = {}

    @cached_property
    def encoder(self) -> Encoder | None:
        """The encoder, None where it is not there; its vectors are kept in the cache."""
        try:
            return Encoder(_ENCODER, layers=_LAYERS, cache=self._setting.cached("states"))
        except DataError:
            return None

    def available(self, name: str) -> bool:
        """Whether a parser can be had: its treebanks, its encoder if it has one, and PyTorch if it is to be trained."""
        if name in AVERAGES:
            return all(map(self.available, AVERAGES[name]))
        recipe, kept = self._recipes[name], self._setting.cached(f"{self._file(name)}.sap")
        if find_spec("torch") is None and not (kept is not None and kept.exists()):
            return False
        return all(self._setting.find(treebank) is not None for treebank in recipe.treebanks) and (
            not recipe.encoder or self.encoder is not None
        )

    def __getitem__(self, name: str) -> SpanParser:
        """Return a parser: from memory, from the cache, or trained now."""
        if name in AVERAGES:
            return SpanParser.average([self[one] for one in AVERAGES[name]])
        if name not in self._loaded:
            kept = self._setting.cached(f"{self._file(name)}.sap")
            if kept is not None and kept.exists():
                parser = load(kept)
                parser.encoder = self.encoder if self._recipes[name].encoder else None
            else:
                parser = self._train(name)
                if kept is not None:
                    save(parser, kept)
            self._loaded[name] = parser
        return self._loaded[name]

    def parse(self, name: str, sentences: Sequence[Sequence[str]], tree: str = "minimum-risk") -> list[Tree]:
        """Return the trees that a parser makes of sentences; they are kept in the cache as well."""
        key = fingerprint([list(words) for words in sentences])[:8]
        kept = self._setting.cached(f"{self._file(name)}-{tree}-{key}.sap")
        if kept is not None and kept.exists():
            return single_trees(load(kept))
        trees = copy(self[name]).set_params(tree=tree).parse_batch(sentences)
        if kept is not None:
            save(trees, kept)
        return single_trees(trees)

    def _file(self, name: str) -> str:
        """Return the name of its files, which changes with the recipe."""
        if name in AVERAGES:
            return f"parser-{name}-{fingerprint([self._file(one) for one in AVERAGES[name]])[:8]}"
        recipe = self._recipes[name]
        encoder = str(self.encoder.spec) if recipe.encoder and self.encoder is not None else ""
        return f"parser-{name}-{fingerprint(repr(recipe), encoder)[:8]}"

    def _train(self, name: str) -> SpanParser:
        recipe = self._recipes[name]
        if recipe.encoder and self.encoder is None:
            raise DataError(f"{name} needs the encoder {_ENCODER}; get it with: sapwood data get {_ENCODER}")
        trees, held = self.parts(recipe)
        parser = SpanParser(
            encoder=self.encoder if recipe.encoder else None,
            epochs=recipe.epochs,
            random_state=recipe.seed,
            checkpoint=self._setting.cached(f"{self._file(name)}-state.sap"),
        )
        return parser.fit(trees, validation=held)

    def parts(self, recipe: Recipe) -> tuple[TreeArray, TreeArray | None]:
        """Return the trees that a parser learns from and those held out, if there are any."""
        trees, held = self._part(recipe, "train")[:: recipe.share], self._part(recipe, "dev")
        if recipe.everything:
            trees = concatenate([trees, held])
        if recipe.fold is not None:
            left_out = fold_of(len(trees), *recipe.fold)
            trees = concatenate([trees[: left_out.start], trees[left_out.stop :]])
        return trees, None if recipe.everything else held

    def _part(self, recipe: Recipe, name: str) -> TreeArray:
        return concatenate([part(self._setting, treebank, name) for treebank in recipe.treebanks])
