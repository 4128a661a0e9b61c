"""Trees in PyTorch networks: kernel values and fragments as layers, trained together with everything above them.

Needs PyTorch: ``pip install 'sapwood[train]'``. Nothing else imports this module.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sapwood.checks import check_count
from sapwood.errors import DataError, ParameterError
from sapwood.extras import avoid_amx
from sapwood.kernels import FragmentMap, SubsetTree, Subtree, SubtreeMap
from sapwood.kernels.base import Kernel
from sapwood.kernels.data import as_data
from sapwood.kernels.normalization import Scales
from sapwood.kernels.terms import Term
from sapwood.lazy import public_names

try:
    import torch
    from torch import Tensor, nn
except ImportError as error:
    raise ImportError(
        f"sapwood.torch needs PyTorch, which cannot be imported ({error}); install it: pip install 'sapwood[train]'"
    ) from error

avoid_amx()

__all__ = ["FragmentLayer", "KernelLayer"]

__dir__ = public_names(__name__)


class KernelLayer(nn.Module):  # type: ignore[misc]  # PyTorch is not looked into
    """Weighted sums of kernel values against stored examples: what a support vector machine computes, as a layer.

    Called with examples, or with their kernel values (see ``rows``), which need not be computed again in every epoch.

    Parameters
    ----------
    kernel : Kernel
        Compares examples.
    examples : TreeArray, Examples or list of trees
        What is compared with: the support of a model, or landmarks of your choice.
    outputs : int
        Columns of the result.
    dtype : torch.dtype
        Of the weights; in double precision the layer of a model gives the model's own decision values.

    Attributes
    ----------
    weight : Parameter of shape (len(examples), outputs)
        Zero at first.
    bias : Parameter of shape (outputs,)

    Examples
    --------
    >>> from sapwood.kernels import SubsetTree
    >>> layer = KernelLayer(SubsetTree().normalized(), ["(NP (DT a) (NN dog))", "(NP (DT a) (NN cat))"], outputs=3)
    >>> layer(["(NP (DT the) (NN dog))"]).shape
    torch.Size([1, 3])
    """

    def __init__(self, kernel: Kernel, examples: Any, outputs: int = 1, *, dtype: Any = torch.float64) -> None:
        super().__init__()
        check_count(outputs, "outputs")
        if not isinstance(kernel, Kernel):
            raise ParameterError(f"kernel must be a kernel of sapwood.kernels, got {type(kernel).__name__}.")
        self.examples = as_data(examples)
        if not self.examples.shape[0]:
            raise DataError("examples: there are none to compare with; pass at least one.")
        self.kernel = kernel.bind(self.examples)
        self.weight = nn.Parameter(torch.zeros(self.examples.shape[0], int(outputs), dtype=dtype))
        self.bias = nn.Parameter(torch.zeros(int(outputs), dtype=dtype))

    @classmethod
    def from_model(cls, model: Any) -> Self:
        """Make the layer that computes what a trained KernelSVC or KernelSVR does.

        Parameters
        ----------
        model : KernelSVC or KernelSVR
            Trained. Outputs are its decision values: one column for two classes or a regression, else one per class
            or, with ``multi_class="ovo"``, one per pair of classes before votes are counted.
        """
        kernel, examples, weights, bias = _solution(model)
        layer = cls(kernel, examples, weights.shape[1])
        _set(layer, weights, bias)
        return layer

    def rows(self, X: Any) -> Tensor:
        """Return the kernel values of examples against the stored ones, which ``forward`` takes instead of examples."""
        return torch.from_numpy(np.asarray(self.kernel(as_data(X), self.examples))).to(self.weight.dtype)

    def forward(self, X: Any) -> Tensor:
        """Return the weighted sums, one row per example."""
        rows = X if isinstance(X, Tensor) else self.rows(X)
        return rows.to(self.weight.dtype) @ self.weight + self.bias


class FragmentLayer(nn.Module):  # type: ignore[misc]
    """Weighted sums of fragments: one weight per fragment and output, which can be read, drawn and trained.

    Called with trees, or with their counts of fragments (see ``rows``).

    Parameters
    ----------
    fragments : FragmentMap, SubtreeMap or another fitted map of trees
        Says which fragments count, and how much one occurrence does.
    outputs : int
        Columns of the result.
    dtype : torch.dtype
        Of the weights.

    Attributes
    ----------
    weight : Parameter of shape (fragments, outputs)
        Zero at first; rows are in the order of ``fragments.get_feature_names_out()``.
    bias : Parameter of shape (outputs,)

    Examples
    --------
    >>> trees = ["(NP (DT a) (NN dog))", "(NP (DT a) (NN cat))"]
    >>> layer = FragmentLayer(FragmentMap(min_df=2).fit(trees), outputs=2)
    >>> layer(trees).sum().backward()
    >>> layer.weight.grad.shape
    torch.Size([3, 2])
    """

    def __init__(self, fragments: Any, outputs: int = 1, *, dtype: Any = torch.float64) -> None:
        super().__init__()
        check_count(outputs, "outputs")
        self.fragments = fragments
        # Counting no trees says how many columns there are, whatever kind of map it is.
        columns = fragments.transform([]).shape[1]
        self._term: Term | None = None
        self.weight = nn.Parameter(torch.zeros(columns, int(outputs), dtype=dtype))
        self.bias = nn.Parameter(torch.zeros(int(outputs), dtype=dtype))

    @classmethod
    def from_model(cls, model: Any, *, max_fragments: int = 1_000_000) -> Self:
        """Make the layer that computes what a trained KernelSVC or KernelSVR does, by all fragments of its support.

        Parameters
        ----------
        model : KernelSVC or KernelSVR
            Trained with ``Subtree`` or ``SubsetTree``, normalized or not, weighted or not. For others, and for sums,
            see ``KernelLayer.from_model``.
        max_fragments : int
            More fragments than this are an error: ``SubsetTree`` has exponentially many.
        """
        kernel, examples, weights, bias = _solution(model)
        (term, *others) = kernel.terms()
        trees, base = term.pick(examples), term.kernel
        if type(base) is Subtree and not others:
            found: Any = SubtreeMap(base.decay).fit(trees)
        elif type(base) is SubsetTree and not base.bag_of_words and not others:
            found = FragmentMap(base.decay, max_depth=base.max_depth, max_fragments=max_fragments).fit(trees)
        else:
            raise ParameterError(
                f"the model has the kernel {kernel!r}, but only Subtree and SubsetTree without a bag of words, "
                "normalized or not, have all their fragments in a map; use KernelLayer.from_model."
            )
        layer = cls(found, weights.shape[1])
        layer._term = term
        counts = found.transform(trees).multiply(Scales(examples).of(term.norms)[:, None])
        _set(layer, term.weight * np.asarray(counts.T @ weights), bias)
        return layer

    def rows(self, X: Any) -> Tensor:
        """Return the counts of fragments as a sparse tensor, which ``forward`` takes instead of trees."""
        data = as_data(X)
        trees = data if self._term is None else self._term.pick(data)
        counts = self.fragments.transform(trees).tocoo()
        values = counts.data.astype(np.float64)
        if self._term is not None and self._term.norms:
            values = values * Scales(data).of(self._term.norms)[counts.row]
        places = torch.from_numpy(np.stack([counts.row, counts.col]).astype(np.int64))
        shape = (counts.shape[0], self.weight.shape[0])
        found: Tensor = torch.sparse_coo_tensor(
            places, torch.from_numpy(values), shape, is_coalesced=True, check_invariants=False
        )
        return found.to(self.weight.dtype)

    def forward(self, X: Any) -> Tensor:
        """Return the weighted sums, one row per tree."""
        rows = X if isinstance(X, Tensor) else self.rows(X)
        return torch.sparse.mm(rows.to(self.weight.dtype), self.weight) + self.bias


def _solution(model: Any) -> tuple[Kernel, Any, NDArray[np.float64], NDArray[np.float64]]:
    """Return the kernel, the support, its weights and the biases of a trained model."""
    names = ("kernel_", "support_examples_", "dual_coef_", "intercept_")
    if not all(hasattr(model, name) for name in names):
        raise ParameterError(f"model must be a trained KernelSVC or KernelSVR, got {type(model).__name__}.")
    kernel, examples, weights, bias = (getattr(model, name) for name in names)
    return kernel, examples, np.asarray(weights, dtype=np.float64), np.asarray(bias, dtype=np.float64)


def _set(layer: Any, weights: NDArray[np.float64], bias: NDArray[np.float64]) -> None:
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(np.ascontiguousarray(weights)))
        layer.bias.copy_(torch.from_numpy(np.array(bias)))
