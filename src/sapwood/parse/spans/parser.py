"""A neural parser that scores every span of a sentence by itself and takes the best tree of spans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from numbers import Integral
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from sapwood import _core, settings
from sapwood.checks import check_amount, check_choice, check_count, check_limit, check_share
from sapwood.errors import DataError, ModelFileError, ParameterError
from sapwood.fitting import all_or_nothing
from sapwood.parse.base import check_words, refuse_text
from sapwood.parse.learned import LearnedParser, training_trees
from sapwood.parse.spans.chart import SpanChart
from sapwood.parse.spans.decoding import batches_by_spans, best_trees, minimum_risk_trees
from sapwood.parse.spans.features import WordFeatures
from sapwood.parse.spans.labels import SpanSentence, SpanVocabulary, span_sentence
from sapwood.parse.spans.network import AveragedNetwork, Network
from sapwood.parse.spans.several import Lesson, Parsed, train_networks
from sapwood.parse.spans.training import Progress, Training
from sapwood.resuming import CheckpointFile, fingerprint
from sapwood.trees.array import TreeArray
from sapwood.trees.nbest import NBest
from sapwood.trees.tree import Tree
from sapwood.words.encoder import EncoderSpec
from sapwood.words.encoder.needed import UsesEncoder

__all__ = ["SpanParser"]

_BUCKETS = 1 << 15
_TREES = ("minimum-risk", "best")


class SpanParser(UsesEncoder, LearnedParser):
    """A span-based neural constituency parser.

    Every span of a sentence is scored for every label by a small network over the words (two-way LSTMs, then one layer
    over the difference of the states at the ends of the span), every word for every tag. A
    tree has the sum of the scores of its spans; they are trained so that the probabilities of trees are right.

    Parameters
    ----------
    encoder : Encoder, path, str or None
        Where the vectors of words come from besides the network's own: a pretrained encoder, its folder or its name
        (see ``sapwood.words.Encoder``). None for a parser that needs nothing else.
    hidden_size : int
        Units of an LSTM, per direction; a multiple of 4.
    layers : int
        Layers of LSTMs.
    span_size : int
        Units of the layer over spans.
    word_size, piece_size : int
        Length of the vectors of words and of their pieces.
    dense_size : int
        What the vectors of the encoder are reduced to.
    dropout : float
        Share of units left out in training.
    word_dropout : float
        How often words are taken for unknown ones in training: ``word_dropout / (word_dropout + count)``.
    networks : int
        How many networks are trained, from ``random_state`` and the seeds that follow it; the scores of several are
        averaged, see ``average``.
    n_jobs : int
        How many of the networks are trained at once, each in a process of its own.
    epochs : int
        Passes over the training trees.
    batch_size : int
        Sentences per step.
    learning_rate, alpha : float
        Of AdamW: the largest step, reached after a short warm-up and then lowered in a straight line, and the decay of
        weights.
    patience : int or None
        Training stops after so many epochs without a better score on the held-out trees; None goes on to the end.
    tree : {"minimum-risk", "best"}
        Which tree ``parse`` gives: the one with the fewest expected errors, put together from probable constituents,
        or the most probable one. The first has more right constituents, the second is right as a whole more often.
    max_length : int
        Longer sentences are cut at punctuation, parsed in parts and put together again.
    checkpoint : path, optional
        A file that holds the state of training after every epoch; training that was stopped goes on from it. Further
        networks have files of their own beside it, with their number in the name.
    random_state : int, RandomState or None
        Seed.

    Attributes
    ----------
    vocabulary_ : SpanVocabulary
        The labels and tags that were learnt.
    history_ : list of Progress
        Loss and held-out F1 by epoch, network after network.

    Notes
    -----
    Training needs PyTorch (``pip install 'sapwood[train]'``); parsing does not. A sentence gets the same tree whatever
    stands beside it and however many threads there are.
    """

    def __init__(
        self,
        *,
        encoder: Any = None,
        hidden_size: int = 256,
        layers: int = 2,
        span_size: int = 256,
        word_size: int = 100,
        piece_size: int = 100,
        dense_size: int = 256,
        dropout: float = 0.35,
        word_dropout: float = 1.0,
        networks: int = 1,
        n_jobs: int = 1,
        epochs: int = 20,
        batch_size: int = 24,
        learning_rate: float = 0.0015,
        alpha: float = 0.01,
        patience: int | None = 5,
        tree: str = "minimum-risk",
        max_length: int = 200,
        checkpoint: str | Path | None = None,
        random_state: Any = 0,
    ) -> None:
        self.encoder = encoder
        self.hidden_size = hidden_size
        self.layers = layers
        self.span_size = span_size
        self.word_size = word_size
        self.piece_size = piece_size
        self.dense_size = dense_size
        self.dropout = dropout
        self.word_dropout = word_dropout
        self.networks = networks
        self.n_jobs = n_jobs
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.alpha = alpha
        self.patience = patience
        self.tree = tree
        self.max_length = max_length
        self.checkpoint = checkpoint
        self.random_state = random_state

    @all_or_nothing
    def fit(  # type: ignore[override]  # learning needs trees
        self,
        trees: Any,
        y: object = None,
        *,
        validation: Any = None,
        start: SpanParser | None = None,
        report: Callable[[Progress], None] | None = None,
    ) -> Self:
        """Learn from trees.

        Parameters
        ----------
        trees : TreeArray or iterable of trees
            With or without traces, function tags and a TOP over each sentence.
        y : ignored
            There for pipelines.
        validation : trees, optional
            Held-out trees: the weights of the epoch that parses them best are kept, and scores are scaled so that
            probabilities hold on them.
        start : SpanParser, optional
            A trained parser to go on from, such as one that is to be adapted to a few hundred trees of another kind.
        report : function, optional
            Called with the progress after every epoch.
        """
        self._check()
        sentences, wrapper = _sentences(trees, "trees")
        held = None if validation is None else _sentences(validation, "validation")[0]
        vocabulary = SpanVocabulary.of(sentences, wrapper)
        features = WordFeatures.of((one.words for one in sentences), min_count=2, buckets=_BUCKETS)
        self._forget_encoder()
        encoder = self._encoder()
        dense = None if encoder is None else list(encoder.encode_batch(one.words for one in sentences))
        if start is not None:
            start._check_fitted()
            if len(start._network.members) > 1:
                raise ParameterError("start is an average of several parsers; go on from one of them.")
            vocabulary = start.vocabulary_.joined(vocabulary)
            features = start._network.features.joined(features)
        held_dense = None if held is None or encoder is None else list(encoder.encode_batch(one.words for one in held))
        history: list[Progress] = []

        def tell(progress: Progress) -> None:
            history.append(progress)
            if report is not None:
                report(progress)

        lesson = Lesson(
            Parsed(sentences, dense),
            None if held is None else Parsed(held, held_dense),
            features,
            vocabulary,
            0 if encoder is None else encoder.width,
            None if start is None else start._network.members[0].weights,
        )
        trainings = list(self._trainings())
        checkpoints = [
            CheckpointFile(_numbered(self.checkpoint, number), _fingerprint(setting, sentences, held, start, encoder))
            for number, setting in enumerate(trainings)
        ]
        found = train_networks(lesson, trainings, checkpoints, self.n_jobs, tell)
        self.history_ = sorted(history, key=lambda progress: progress.network)
        self._set(_averaged(found), vocabulary, None if encoder is None else encoder.spec)
        return self

    def _trainings(self) -> Iterator[Training]:
        """Yield how each network is trained."""
        # Its fields are parameters of the same names.
        shared = {field.name: getattr(self, field.name) for field in fields(Training) if field.name != "seed"}
        state = check_random_state(self.random_state)
        for number in range(self.networks):
            if isinstance(self.random_state, Integral):
                state = check_random_state(int(self.random_state) + number)
            yield Training(**shared, seed=int(state.randint(2**31 - 1)))

    @classmethod
    def average(cls, parsers: Sequence[SpanParser]) -> SpanParser:
        """Return a parser whose scores are the mean of those of several, trained alike with other seeds.

        It makes fewer errors than each of them, and takes as many times as long, the encoder's part excepted. Parsers
        with the seeds 0 and 1 make the one that ``networks=2`` learns.
        """
        members = list(parsers)
        for one in members:
            if not isinstance(one, SpanParser):
                raise ParameterError(f"parsers must be SpanParsers, got a {type(one).__name__}.")
            one._check_fitted()
        if not members:
            raise ParameterError("parsers must hold at least one parser.")
        first = members[0]
        for number, one in enumerate(members[1:], 1):
            known, other = first._network.features, one._network.features
            if (first.vocabulary_, first._spec, known) != (one.vocabulary_, one._spec, other):
                raise ParameterError(
                    f"parser {number} knows other words or labels than the first, or has another encoder; average "
                    "parsers that were trained on the same trees."
                )
        made = cls(**first.get_params(deep=False))
        networks = [network for one in members for network in one._network.members]
        made._set(_averaged(networks), first.vocabulary_, first._spec)
        return made

    def _set(self, network: Network | AveragedNetwork, vocabulary: SpanVocabulary, spec: EncoderSpec | None) -> None:
        self._network, self.vocabulary_, self._spec = network, vocabulary, spec

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_network")

    def _charts(self, sentences: list[list[str]]) -> Iterator[SpanChart]:
        spans, tags = self._scores(sentences)
        labels = len(self.vocabulary_.chains)
        first_span = first_word = 0
        for words in sentences:
            count = len(words)
            last_span, last_word = first_span + count * (count + 1) // 2 * labels, first_word + count
            # Copies, so that a chart does not keep those of other sentences.
            own = spans[first_span:last_span].copy(), tags[first_word:last_word].copy()
            yield SpanChart(tuple(words), *own, self.vocabulary_)
            first_span, first_word = last_span, last_word

    def parse_nbest(self, sentence: Sequence[str], n: int = 30) -> NBest:
        """Return the most probable trees of a sentence with their log-probabilities, best first.

        Of a sentence that is longer than ``max_length`` there is one tree, put together from those of its parts.
        """
        (found,) = self.parse_nbest_batch([refuse_text(sentence)], n)
        return found

    def parse_nbest_batch(self, sentences: Iterable[Sequence[str]], n: int = 30) -> list[NBest]:
        """Return the most probable trees of many sentences; see ``parse_nbest``."""
        check_count(n, "n", most=10_000)
        parts = [_parts(check_words(words, index), self.max_length) for index, words in enumerate(sentences)]
        charts = self.charts(part for some in parts for part in some)
        lists: list[NBest] = []
        for some in parts:
            found = [next(charts).nbest(n if len(some) == 1 else 1) for _ in some]
            lists.append(replace(found[0], how="parser") if len(some) == 1 else self._put_together(found))
        return lists

    def _put_together(self, parts: list[NBest]) -> NBest:
        tree = self._joined([one.parses[0] for one in parts if isinstance(one.parses[0], Tree)])
        return NBest(TreeArray([tree]), np.array([sum(float(one.scores[0]) for one in parts)]), how="pieces")

    def size(self) -> dict[str, int]:
        """Return how many words, labels, tags and weights the parser has."""
        self._check_fitted()
        weights = sum(array.size for network in self._network.members for array in network.weights.values())
        vocabulary = self.vocabulary_
        return {
            "words": len(self._network.features.words),
            "labels": len(vocabulary.chains),
            "tags": len(vocabulary.tags),
            "weights": weights,
        }

    def _scores(self, sentences: Sequence[Sequence[str]]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        try:
            encoder = self._encoder()
            dense = None if encoder is None else list(encoder.encode_batch(sentences))
        except DataError as error:
            # No fault of the sentences, which would otherwise get flat trees.
            raise ModelFileError(f"this parser cannot be used: {error}") from None
        spans, tags = self._network.score(sentences, dense, settings.threads())
        return spans, self.vocabulary_.with_emoji((word for words in sentences for word in words), tags)

    def _parse_words(self, sentences: list[list[str]]) -> Sequence[tuple[Any, str] | Exception]:
        self._check_fitted()
        check_choice(self.tree, "tree", _TREES)
        parts = [_parts(words, self.max_length) for words in sentences]
        flat = [part for some in parts for part in some]
        trees: list[Tree] = []
        for batch in batches_by_spans(flat):
            spans, tags = self._scores(batch)
            if self.tree == "best":
                trees.extend(best_trees(batch, spans, tags, self.vocabulary_))
            else:
                lengths = np.array([len(words) for words in batch], dtype=np.uint64)
                labels = len(self.vocabulary_.chains)
                _, shares = _core.spans.marginals(lengths, spans, labels, settings.threads(), None)
                trees.extend(minimum_risk_trees(batch, shares, tags, self.vocabulary_))
        answers: list[tuple[Any, str] | Exception] = []
        following = iter(trees)
        for some in parts:
            found = [next(following) for _ in some]
            answers.append((found[0], "parser") if len(found) == 1 else (self._joined(found), "pieces"))
        return answers

    def _joined(self, trees: list[Tree]) -> Tree:
        """Put the trees of the parts of a sentence under one node."""
        wrapper = self.vocabulary_.wrapper
        children = [child for tree in trees for child in (tree.children if wrapper else (tree,))]
        labels = [child.label for child in children if not child.is_leaf]
        joined = Tree(max(sorted(set(labels)), key=labels.count), children)
        return Tree(wrapper, [joined]) if wrapper else joined

    def _check(self) -> None:
        for name in (
            "networks",
            "n_jobs",
            "layers",
            "span_size",
            "word_size",
            "piece_size",
            "dense_size",
            "epochs",
            "batch_size",
            "hidden_size",
        ):
            check_count(getattr(self, name), name)
        check_count(self.max_length, "max_length", 2, 2000)
        if self.hidden_size % 4:
            raise ParameterError(f"hidden_size must be a multiple of 4, got {self.hidden_size!r}.")
        check_choice(self.tree, "tree", _TREES)
        check_share(self.dropout, "dropout")
        for name in ("word_dropout", "learning_rate", "alpha"):
            check_amount(getattr(self, name), name)
        check_limit(self.patience, "patience")


def _averaged(networks: Sequence[Network]) -> Network | AveragedNetwork:
    return networks[0] if len(networks) == 1 else AveragedNetwork(networks)


def _numbered(checkpoint: str | Path | None, number: int) -> Path | None:
    """Return the file for the state of one of several networks."""
    if checkpoint is None:
        return None
    path = Path(checkpoint)
    return path if number == 0 else path.with_name(f"{path.stem}-{number + 1}{path.suffix}")


def _sentences(trees: Any, name: str) -> tuple[list[SpanSentence], str | None]:
    """Return training trees as labeled spans, and what stands over most of them."""
    roots, wrapper = training_trees(trees, name)
    found = [one for one in map(span_sentence, roots) if one.spans and one.spans[-1][:2] == (0, len(one.words))]
    if not found:
        raise DataError(
            f"{name}: no tree has a label above its tags; the parser learns from trees such as (NP (NN rain))."
        )
    return found, wrapper


def _parts(words: list[str], limit: int) -> list[list[str]]:
    from sapwood.parse.splitting import split_long

    if len(words) <= limit:
        return [words]
    return [words[begin:end] for begin, end in split_long(words, limit)]


def _fingerprint(
    setting: Any, sentences: list[SpanSentence], held: list[SpanSentence] | None, start: SpanParser | None, encoder: Any
) -> str:
    return fingerprint(
        repr(setting),
        repr(sentences),
        repr(held),
        {} if start is None else start._network.members[0].weights,
        repr(None if encoder is None else encoder.spec),
    )
