"""What a user has typed, as a sentence with a tree: brackets are read, anything else is parsed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sapwood.errors import DataError
from sapwood.explorer.limits import Limits
from sapwood.explorer.model_folder import ModelFolder
from sapwood.parse import BaseParser, as_parser, split_sentences
from sapwood.trees import Tree
from sapwood.trees.positions import Positions

__all__ = ["Sentence", "parser_of", "read_sentence", "tree_json"]

_HOW = {
    "fallback": "The sentence is outside the grammar; a plainer grammar has parsed it.",
    "pieces": "The sentence is outside the grammar; its pieces were parsed and put together.",
}


@dataclass(frozen=True)
class Sentence:
    """A sentence as models take it.

    Attributes
    ----------
    words : tuple of str
        Its words.
    tree : Tree or None
        Its tree; None where there is no parser.
    given : bool
        Whether the tree was typed.
    notes : list of str
        What the user should know about how it was read.
    parser : str
        The name of the parser; empty if the tree was given or there is none.
    texts : tuple of str
        All sentences of the text; this is the one with ``number``.
    """

    words: tuple[str, ...]
    tree: Tree | None
    given: bool
    notes: list[str] = field(default_factory=list)
    parser: str = ""
    texts: tuple[str, ...] = ()
    number: int = 0

    def needs_tree(self) -> Tree:
        """Return the tree, or say how to get one."""
        if self.tree is None:
            raise DataError(
                "the folder holds no parser, so a sentence has no tree; paste a tree in brackets, or put a model of "
                "sapwood train parser into the folder and start again."
            )
        return self.tree


def parser_of(models: ModelFolder, name: str = "", model: Any = None) -> tuple[str, BaseParser | None]:
    """Return the parser of this name, or that of the model, or the first of the folder, or none."""
    if name:
        found = models[name]
        if not isinstance(found, BaseParser):
            raise DataError(f"the model {name!r} is a {type(found).__name__}, not a parser.")
        return name, found
    own = getattr(model, "parser", None)
    if own is not None:
        return "the parser of the model", as_parser(own)
    return next(iter(models.of(BaseParser).items()), ("", None))


def read_sentence(
    text: str, models: ModelFolder, limits: Limits, *, parser: str = "", model: Any = None, which: int = 0
) -> Sentence:
    """Read a sentence or a bracketed tree.

    Parameters
    ----------
    text : str
        What was typed.
    models : ModelFolder
        Where parsers are looked for.
    limits : Limits
        How much is read.
    parser : str
        The name of a parser; see ``parser_of``.
    model : object, optional
        The model that will be asked.
    which : int
        Which sentence of the text, counted from 0.
    """
    if len(text) > limits.characters:
        raise DataError(f"the text has {len(text):,} characters; at most {limits.characters:,} are read. Shorten it.")
    if not text.strip():
        raise DataError("there is nothing to read; type a sentence, or a tree in brackets.")
    if text.lstrip().startswith("("):
        tree = Tree.fromstring(text.strip())
        _check_size(tree, limits)
        return Sentence(tree.leaves(), tree, given=True, texts=(" ".join(tree.leaves()),))
    sentences = split_sentences(text)
    if not sentences:
        raise DataError("there are no words in the text; type a sentence, or a tree in brackets.")
    if which >= len(sentences):
        raise DataError(f"the text has {len(sentences)} sentences, so there is no number {which + 1}.")
    words = tuple(str(word) for word in sentences[which])
    if len(words) > limits.words:
        raise DataError(f"the sentence has {len(words):,} words; at most {limits.words} are read. Shorten it.")
    notes: list[str] = []
    texts = tuple(" ".join(map(str, one)) for one in sentences)
    name, found = parser_of(models, parser, model)
    if found is None:
        return Sentence(words, None, given=False, notes=notes, texts=texts, number=which)
    (parsed,) = found.parse_sentences([words])
    if parsed.how == "flat":
        raise DataError(f"{name} finds no tree for the sentence: {parsed.problem}. Paste a tree in brackets.")
    if parsed.how in _HOW:
        notes.append(_HOW[parsed.how])
    _check_size(parsed.tree, limits)
    return Sentence(words, parsed.tree, given=False, notes=notes, parser=name, texts=texts, number=which)


def tree_json(tree: Tree) -> dict[str, Any]:
    """Return a tree as the page draws it: labels and parents in pre-order, and its brackets.

    >>> tree_json(Tree.fromstring("(NP (DT a) (NN dog))"))
    {'labels': ['NP', 'DT', 'a', 'NN', 'dog'], 'parents': [-1, 0, 1, 0, 3], 'text': '(NP (DT a) (NN dog))'}
    """
    at = Positions(tree)
    return {"labels": at.labels, "parents": at.parent, "text": str(tree)}


def _check_size(tree: Tree, limits: Limits) -> None:
    size = tree.size()
    if size > limits.nodes:
        raise DataError(f"the tree has {size:,} nodes; at most {limits.nodes:,} are shown. Take a part of it.")
