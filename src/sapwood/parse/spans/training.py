"""Training the network of a span parser with PyTorch; nothing else in Sapwood's parsers needs it.

The loss of a sentence is the negative log-probability of its tree among all trees (a conditional random field over
trees), plus that of its tags. Sums over trees and the probabilities of spans, which are the gradient, are computed
natively.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood import _core, memory, settings
from sapwood.errors import ParameterError
from sapwood.parse.spans.batches import Batch, BatchMaker, Tensor, import_torch
from sapwood.parse.spans.features import WordFeatures
from sapwood.parse.spans.labels import SpanSentence, SpanVocabulary
from sapwood.parse.spans.network import Weights
from sapwood.resuming import CheckpointFile

__all__ = ["Progress", "SpanModel", "Training", "train"]

# After so many steps freed memory is given back, which takes a few milliseconds.
_RELEASE_STEPS = 25


@dataclass(frozen=True)
class Training:
    """How the network is shaped and trained; the parameters of ``SpanParser`` say what each means."""

    word_size: int
    piece_size: int
    dense_size: int
    hidden_size: int
    layers: int
    span_size: int
    dropout: float
    word_dropout: float
    epochs: int
    batch_size: int
    learning_rate: float
    alpha: float
    patience: int | None
    seed: int


@dataclass(frozen=True)
class Progress:
    """How training stands after an epoch of one of the networks; ``score`` is None where nothing is held out."""

    epoch: int
    loss: float
    score: float | None
    seconds: float
    network: int = 0


class SpanModel:
    """The network of ``native/parse/span_network.hpp`` in PyTorch.

    Parameters
    ----------
    setting : Training
        Its shape.
    features, vocabulary
        How many words, labels and tags it has.
    dense_width : int
        The length of the vectors of the encoder; 0 for none.
    """

    def __init__(self, setting: Training, features: WordFeatures, vocabulary: SpanVocabulary, dense_width: int) -> None:
        self.setting = setting
        self.torch = torch = import_torch()
        nn = torch.nn
        # Before weights are drawn: orthogonal ones have other bits with other numbers of threads.
        torch.set_num_threads(settings.threads())
        torch.manual_seed(setting.seed)
        width = setting.word_size + setting.piece_size + 16 + (setting.dense_size if dense_width else 0)
        both = 2 * setting.hidden_size
        parts = {
            "words": nn.Embedding(len(features.words) + 1, setting.word_size),
            "pieces": nn.EmbeddingBag(features.buckets, setting.piece_size, mode="mean"),
            "shapes": nn.Embedding(len(features.shapes) + 1, 16),
            "ends": nn.Embedding(2, width),
            "lstm": nn.LSTM(
                width,
                setting.hidden_size,
                setting.layers,
                batch_first=True,
                bidirectional=True,
                dropout=setting.dropout if setting.layers > 1 else 0.0,
            ),
            "span_hidden": nn.Linear(both, setting.span_size, bias=False),
            "span_norm": nn.LayerNorm(setting.span_size),
            "span_output": nn.Linear(setting.span_size, len(vocabulary.chains)),
            "tag_hidden": nn.Linear(both, setting.span_size),
            "tag_norm": nn.LayerNorm(setting.span_size),
            "tag_output": nn.Linear(setting.span_size, len(vocabulary.tags)),
        }
        if dense_width:
            parts["dense"] = nn.Linear(dense_width, setting.dense_size)
        nn.init.normal_(parts["words"].weight, std=0.1)
        nn.init.normal_(parts["pieces"].weight, std=0.3)
        nn.init.normal_(parts["ends"].weight, std=0.1)
        for name, parameter in parts["lstm"].named_parameters():
            if "weight_hh" in name:
                for gate in parameter.chunk(4):
                    nn.init.orthogonal_(gate)
            elif "bias" in name:
                nn.init.zeros_(parameter)
                # Half of the forget gate's 1: there are two biases.
                nn.init.constant_(parameter.chunk(4)[1], 0.5)
        self.parts = nn.ModuleDict(parts)

    def scores(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return scores of labels for all spans, and of tags for all words, sentence after sentence."""
        torch, parts = self.torch, self.parts
        rnn = torch.nn.utils.rnn

        def drop(x: Tensor, sentence: Tensor) -> Tensor:
            """Leave out the same columns in all rows of a sentence: as good as other ones in each, and much cheaper."""
            if not parts.training:
                return x
            mask = torch.rand(len(batch.lengths), x.shape[-1]).ge_(self.setting.dropout)
            return x * mask.div_(1.0 - self.setting.dropout)[sentence]

        columns = [torch.relu(parts["dense"](drop(batch.dense, batch.sentence)))] if "dense" in parts else []
        columns += [parts["words"](batch.words), parts["pieces"](batch.pieces, batch.piece_offsets)]
        rows = torch.cat([*columns, parts["shapes"](batch.shapes)], dim=1)
        # Sentences stand in rows between their two ends, padded behind.
        padded = rows.new_zeros(len(batch.lengths), int(batch.lengths.max()) + 2, rows.shape[1])
        padded[batch.sentence, batch.position + 1] = rows
        lengths = torch.from_numpy(batch.lengths.astype(np.int64))
        everyone = torch.arange(len(lengths))[:, None]
        padded[:, 0] = parts["ends"].weight[0]
        padded[torch.arange(len(lengths)), lengths + 1] = parts["ends"].weight[1]
        packed = rnn.pack_padded_sequence(drop(padded, everyone), lengths + 2, batch_first=True, enforce_sorted=False)
        states, _ = rnn.pad_packed_sequence(parts["lstm"](packed)[0], batch_first=True)
        states = drop(states, everyone)
        hidden = parts["tag_hidden"](states[batch.sentence, batch.position + 1])
        tags = parts["tag_output"](torch.relu(parts["tag_norm"](hidden)))
        half = states.shape[2] // 2
        posts = parts["span_hidden"](torch.cat([states[:, :-1, :half], -states[:, 1:, half:]], dim=2))
        spans = posts[batch.span_sentence, batch.span_end] - posts[batch.span_sentence, batch.span_begin]
        return parts["span_output"](drop(torch.relu(parts["span_norm"](spans)), batch.span_sentence)), tags

    def loss(self, batch: Batch) -> Tensor:
        """Return the mean loss of the sentences."""
        torch = self.torch
        # Products of 16 bits take half the time where the processor has them, but a third more on those with AMX, which
        # is not used (`avoid_amx`); weights and sums keep all their bits.
        half = torch.ops.mkldnn._is_mkldnn_bf16_supported() and not torch.cpu._is_amx_tile_supported()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=half):
            spans, tags = (one.to(torch.promote_types(one.dtype, torch.float32)) for one in self.scores(batch))
        # A single word below a root may have no label, which has score 0.
        nothing = torch.where(batch.optional, 0.0, -math.inf).to(spans.dtype)
        weights = torch.logsumexp(torch.cat([spans, nothing[:, None]], dim=1), dim=1)
        totals, shares = _core.spans.inside_outside(
            batch.lengths, weights.detach().to(torch.float64).numpy(), settings.threads()
        )
        # The gradient of the sum over trees with respect to the weight of a span is the share of trees that have it.
        moving = ((weights - weights.detach()) * torch.from_numpy(shares).to(weights.dtype)).sum()
        gold = spans[batch.gold_span, batch.gold_label].sum()
        tagged = torch.nn.functional.cross_entropy(tags, batch.tags, reduction="sum")
        return (float(totals.sum()) + moving - gold + tagged) / len(batch.lengths)

    def take_over(self, weights: Weights) -> None:
        """Start from the weights of another network of this shape, which may know fewer words, labels and tags."""
        torch = self.torch
        own = self.weights()
        grown = ("words", "shapes", "span_output", "span_bias", "tag_output", "tag_bias")
        fits = own.keys() == weights.keys() and all(
            own[name].ndim == one.ndim
            and all(a >= b if name in grown else a == b for a, b in zip(own[name].shape, one.shape, strict=True))
            for name, one in weights.items()
        )
        if not fits:
            raise ParameterError(
                "the parser to start from has a network of another shape; give both the same encoder, hidden_size, "
                "layers, span_size, word_size, piece_size and dense_size."
            )
        with torch.no_grad():
            for name, tensor, turned in _tensors(self.parts):
                value = torch.from_numpy(weights[name])
                value = value.T if turned else value
                tensor[tuple(slice(0, size) for size in value.shape)] = value
            for at in range(2 * self.setting.layers):
                input_weights, recurrent, bias, other_bias = _lstm(self.parts, at)
                input_weights.copy_(torch.from_numpy(weights[f"lstm_input_{at}"]).T)
                recurrent.copy_(torch.from_numpy(weights[f"lstm_recurrent_{at}"]).T)
                bias.copy_(torch.from_numpy(weights[f"lstm_bias_{at}"]))
                other_bias.zero_()

    def weights(self, parts: Any = None) -> Weights:
        """Return the weights, or others of the same shape, under the names of ``Network``."""
        parts = self.parts if parts is None else parts

        def plain(tensor: Tensor, turned: bool = False) -> NDArray[np.float32]:
            array = tensor.detach().numpy()
            return np.array(array.T if turned else array, dtype=np.float32, order="C")

        found = {"dense": np.zeros((0, 0), np.float32), "dense_bias": np.zeros(0, np.float32)}
        found |= {name: plain(tensor, turned) for name, tensor, turned in _tensors(parts)}
        for at in range(2 * self.setting.layers):
            input_weights, recurrent, bias, other_bias = _lstm(parts, at)
            found[f"lstm_input_{at}"], found[f"lstm_recurrent_{at}"] = (
                plain(input_weights, True),
                plain(recurrent, True),
            )
            found[f"lstm_bias_{at}"] = plain(bias + other_bias)
        return found


def _lstm(parts: Any, at: int) -> list[Tensor]:
    """Return the weights and biases of one direction of one layer."""
    end = f"_l{at // 2}{'_reverse' if at % 2 else ''}"
    return [getattr(parts["lstm"], name + end) for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]


def _tensors(parts: Any) -> Iterator[tuple[str, Tensor, bool]]:
    """Yield the parameters outside of LSTMs: their name in ``Network``, and whether they are turned there."""
    for name in ("words", "pieces", "shapes"):
        yield name, parts[name].weight, False
    if "dense" in parts:
        yield "dense", parts["dense"].weight, True
        yield "dense_bias", parts["dense"].bias, False
    yield "first", parts["ends"].weight[0], False
    yield "last", parts["ends"].weight[1], False
    for kind in ("span", "tag"):
        hidden, norm, output = (parts[f"{kind}_{part}"] for part in ("hidden", "norm", "output"))
        yield f"{kind}_hidden", hidden.weight, True
        if hidden.bias is not None:
            yield f"{kind}_hidden_bias", hidden.bias, False
        yield f"{kind}_scale", norm.weight, False
        yield f"{kind}_shift", norm.bias, False
        yield f"{kind}_output", output.weight, True
        yield f"{kind}_bias", output.bias, False


def _move_average(averages: Any, values: Any, count: Tensor) -> None:
    """Move averages of weights towards the newest ones: quickly at first, then over some 500 steps."""
    steps = float(count)
    import_torch()._foreach_lerp_(averages, values, max(0.002, 9.0 / (10.0 + steps)))


def _under(arrays: dict[str, NDArray[Any]], name: str) -> dict[str, Tensor]:
    """Return the arrays whose names begin with this one, by the rest of their names."""
    # Copies: what is read from files cannot be written to. Single numbers are kept as arrays of one.
    from_numpy = import_torch().from_numpy
    return {
        key[len(name) + 1 :]: from_numpy(np.array(value)) for key, value in arrays.items() if key.startswith(name + ".")
    }


def train(
    model: SpanModel,
    sentences: Sequence[SpanSentence],
    dense: Sequence[NDArray[Any]] | None,
    features: WordFeatures,
    vocabulary: SpanVocabulary,
    *,
    evaluate: Callable[[Weights], float] | None,
    report: Callable[[Progress], None],
    checkpoint: CheckpointFile,
) -> Weights:
    """Train, and return the weights of the best epoch (of the last one, if nothing is held out).

    Parameters
    ----------
    evaluate : function, optional
        Scores weights on held-out data, higher is better; asked after every epoch.
    report : function
        Called after every epoch.
    checkpoint : CheckpointFile
        Where the state of training is kept after every epoch, and where it goes on from.
    """
    setting, torch, parts = model.setting, model.torch, model.parts
    data = BatchMaker(sentences, dense, features, vocabulary, setting.batch_size, setting.word_dropout)
    random = np.random.default_rng(setting.seed)
    steps = setting.epochs * (len(data.bounds) - 1)
    warm = min(150, max(1, steps // 10))
    optimizer = torch.optim.AdamW(
        parts.parameters(), lr=setting.learning_rate, weight_decay=setting.alpha, betas=(0.9, 0.98), fused=True
    )

    def rate(step: int) -> float:
        """Return the learning rate: up in a straight line, then down."""
        share = min((step + 1) / warm, max(0.02, (steps - step) / max(1, steps - warm)))
        return float(setting.learning_rate * share)

    average = torch.optim.swa_utils.AveragedModel(parts, multi_avg_fn=_move_average)
    start, step, best_epoch = 0, 0, 0
    best_score: float | None = None
    best = model.weights()
    kept = {"model": parts, "average": average}
    if (found := checkpoint.read()) is not None:
        for name, part in kept.items():
            part.load_state_dict(_under(found.arrays, name))
        for number, one in enumerate(parts.parameters()):
            state = _under(found.arrays, f"optimizer.{number}")
            optimizer.state[one] = {**state, "step": state["step"].reshape(())}
        random.bit_generator.state = found.values["random"]
        torch.set_rng_state(torch.from_numpy(found.arrays["torch_random"]))
        best = {name: tensor.numpy() for name, tensor in _under(found.arrays, "best").items()}
        start, step, best_score, best_epoch = (
            found.values[name] for name in ("epoch", "step", "best_score", "best_epoch")
        )
    for epoch in range(start, setting.epochs):
        if setting.patience is not None and epoch - best_epoch > setting.patience and evaluate is not None:
            break
        begun, total, count = time.perf_counter(), 0.0, 0
        parts.train()
        with settings.progress_bar(len(sentences), f"Epoch {epoch + 1} of {setting.epochs}", "sentences") as progress:
            for chosen in data.batches(random):
                loss = model.loss(data.batch(chosen, random))
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                torch.nn.utils.clip_grad_norm_(parts.parameters(), 5.0)
                optimizer.param_groups[0]["lr"] = rate(step)
                optimizer.step()
                step += 1
                if step % _RELEASE_STEPS == 0:
                    memory.release()
                average.update_parameters(parts)
                total += float(loss.detach()) * len(chosen)
                count += len(chosen)
                if progress is not None:
                    progress(count)
        weights = model.weights(average.module)
        score = None if evaluate is None else evaluate(weights)
        if score is None or best_score is None or score > best_score:
            best, best_score, best_epoch = weights, score, epoch + 1
        report(Progress(epoch + 1, total / count, score, time.perf_counter() - begun))
        arrays = {f"{name}.{key}": value for name, part in kept.items() for key, value in part.state_dict().items()}
        for number, one in enumerate(parts.parameters()):
            arrays |= {f"optimizer.{number}.{key}": value for key, value in optimizer.state[one].items()}
        arrays |= {f"best.{name}": torch.from_numpy(value) for name, value in best.items()}
        arrays["torch_random"] = torch.get_rng_state()
        values = {"epoch": epoch + 1, "best_score": best_score, "best_epoch": best_epoch, "step": step,
                  "random": random.bit_generator.state}  # fmt: skip
        checkpoint.write(values, {name: np.atleast_1d(value.numpy()) for name, value in arrays.items()})
    return best
