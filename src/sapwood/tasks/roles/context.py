"""Roles of candidates by words in context: a network over the encoder's states of a few words, and flat features."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from sapwood.extras import import_torch
from sapwood.layouts import Field
from sapwood.learn.context import ContextNetwork, ContextRows
from sapwood.learn.context_training import ContextTraining, train
from sapwood.registry import Reader, Writer
from sapwood.tasks.roles.encoding import Encoder as Columns
from sapwood.tasks.roles.features import content_token
from sapwood.tasks.roles.linear import Values, best_slope
from sapwood.tasks.roles.views import Candidate, Parse, parses_of
from sapwood.words.encoder import Encoder
from sapwood.words.encoder.needed import UsesEncoder

__all__ = ["CONTEXT_ROLES", "ContextRoles", "UsesContext", "encode_parses"]

# Of an encoder that is given by its name: what layers know differs, and the network may choose.
_LAYERS = (1, -3, -2, -1)
# The predicate, and of the candidate its head, content word, first and last word.
_PLACES = 5
# Features that fewer candidates have, or one in so many, are not worth a vector: the linear model has them.
_MIN_COUNT, _CANDIDATES_PER_FEATURE = 5, 15_000


class UsesContext(UsesEncoder):
    """A model of roles with an encoder, and a network over its vectors in ``context_``."""

    context_: ContextRoles | None
    features: str

    def _open_encoder(self) -> Encoder | None:
        """Begin anew, and return the encoder to learn with, if there is one."""
        self._forget_encoder()
        self.context_ = None
        encoder = self._encoder(layers=_LAYERS, pieces="mean")
        if encoder is not None:
            import_torch(self._training)  # before other models are learnt for nothing
        return encoder

    def _learn_context(
        self,
        encoder: Encoder,
        candidates: Sequence[Candidate],
        labels: Sequence[str],
        values: Values,
        setting: ContextTraining,
    ) -> None:
        """Train the network on candidates, their classes and their flat features."""
        encode_parses(parses_of(candidates), encoder)
        self.context_ = ContextRoles.learn(
            candidates, labels, values, features=self.features, setting=setting, what=self._training
        )
        self._spec = encoder.spec

    @property
    def _training(self) -> str:
        return f"training a {type(self).__name__} with an encoder"

    def _encode(self, parses: Iterable[Parse]) -> None:
        """Give parses the vectors of their words, where the model has a network."""
        if self.context_ is not None and (encoder := self._encoder()) is not None:
            encode_parses(parses, encoder)

    def _check_context(self, classes: Sequence[str], reader: Reader) -> None:
        """Check a network that has been read from a file."""
        self._check_network(self.context_, reader)
        if self.context_ is not None and (
            self.context_.classes != list(classes) or self.context_.columns.features != self.features
        ):
            raise reader.fail("its network does not fit its roles")


class ContextRoles:
    """Classes of candidates; the parses behind them must have been encoded (``encode_parses``).

    Parameters
    ----------
    columns : roles.encoding.Encoder
        Turns flat features into columns.
    network : ContextNetwork
        Tells the classes apart.
    slope : float
        Of the probabilities when the network is mixed with other models; see ``calibrate``.
    """

    def __init__(self, columns: Columns, network: ContextNetwork, slope: float = 1.0) -> None:
        self.columns, self.network, self.slope = columns, network, slope

    @classmethod
    def learn(
        cls,
        candidates: Sequence[Candidate],
        labels: Sequence[str],
        values: Values,
        *,
        features: str,
        setting: ContextTraining,
        what: str,
    ) -> ContextRoles:
        """Train on candidates, their classes and their flat features, which are those of the set ``features``."""
        least = max(_MIN_COUNT, len(candidates) // _CANDIDATES_PER_FEATURE)
        columns = Columns(features, min_count=least).fit(candidates, values)
        rows = ContextRows(*_words(candidates), columns.transform(candidates, values))
        return cls(columns, train(rows, labels, setting, what))

    @property
    def classes(self) -> list[str]:
        """The classes."""
        return self.network.classes

    def log_probabilities(self, candidates: Sequence[Candidate], values: Values | None = None) -> NDArray[np.float64]:
        """Return the logarithm of the probability of each class, one column per class."""
        features = self.columns.transform(candidates, values)
        return self.network.log_probabilities(ContextRows(*_words(candidates), features))

    def calibrate(
        self, others: NDArray[np.float64], share: float, candidates: Sequence[Candidate], labels: Sequence[str]
    ) -> None:
        """Choose the slope with which mixtures fit held-out data best; ``others`` are scores of another model."""
        self.slope = 1.0
        self.slope = best_slope(self.mixed(others, share, candidates), labels, self.classes)

    def mixed(
        self,
        others: NDArray[np.float64],
        share: float,
        candidates: Sequence[Candidate],
        values: Values | None = None,
    ) -> NDArray[np.float64]:
        """Mix log-probabilities of another model with those of the network, which count this share."""
        mixture = (1.0 - share) * others + share * self.log_probabilities(candidates, values)
        return np.asarray(log_softmax(self.slope * mixture, axis=1))


def encode_parses(parses: Iterable[Parse], encoder: Encoder) -> None:
    """Give parses the vectors of their words, if they do not have those of this encoder yet."""
    missing = [one for one in parses if one.context is None or one.context[0] != encoder.spec]
    for parse, vectors in zip(missing, encoder.encode_batch(one.words for one in missing), strict=True):
        parse.context = (encoder.spec, vectors)


def _words(candidates: Sequence[Candidate]) -> tuple[NDArray[np.float16], NDArray[np.int64]]:
    """Return the vectors of all words, and for each candidate which of them are in its places."""
    starts: dict[int, int] = {}
    parts = []
    total = 0
    places = np.zeros((len(candidates), _PLACES), np.int64)
    for number, (view, node) in enumerate(candidates):
        parse, at = view.parse, view.at
        start = starts.get(id(parse))
        if start is None:
            assert parse.context is not None
            start = starts[id(parse)] = total
            parts.append(parse.context[1])
            total += len(parse.words)
        own = (view.predicate, parse.heads[node], content_token(parse, node), at.first[node], at.last[node])
        places[number] = [start + word for word in own]
    return np.concatenate(parts), places


def _write(found: ContextRoles | None, writer: Writer) -> dict[str, Any] | None:
    if found is None:
        return None
    return {"columns": found.columns.write(writer), "network": found.network.write(writer), "slope": found.slope}


def _read(data: dict[str, Any] | None, reader: Reader) -> ContextRoles | None:
    if data is None:
        return None
    columns = Columns.read(data["columns"], reader)
    network = ContextNetwork.read(data["network"], reader, features=columns.total, places=_PLACES)
    return ContextRoles(columns, network, reader.number(data["slope"]))


CONTEXT_ROLES = Field(_write, _read, absent=None)
"""How model files hold the network of a model that has one."""
