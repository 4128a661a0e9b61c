"""Kernels of Sapwood in scikit-learn's Gaussian processes, with derivatives in decays, weights and widths."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from sklearn.gaussian_process.kernels import GenericKernelMixin, Hyperparameter
from sklearn.gaussian_process.kernels import Kernel as TheirKernel

from sapwood.checks import is_finite
from sapwood.errors import DataError, ParameterError
from sapwood.kernels.base import Kernel, Matrix
from sapwood.kernels.choice import check_kernel
from sapwood.kernels.data import as_data
from sapwood.notebook import HtmlTable
from sapwood.trees.array import TreeArray, concatenate
from sapwood.trees.examples import Examples

__all__ = ["GPKernel"]

# Parameters that are learnt by default, and between which values.
_RANGES = {"weight": (1e-3, 1e3), "decay": (1e-2, 0.99), "depth_decay": (1e-2, 0.99), "gamma": (1e-4, 1e4)}
_STEP = 1e-3  # of the logarithm of a parameter


class GPKernel(HtmlTable, GenericKernelMixin, TheirKernel):
    """A kernel on trees, or on several views, for ``GaussianProcessRegressor`` and ``GaussianProcessClassifier``.

    Decays, weights and widths (γ of ``RBF``) of the kernel are hyperparameters, which the process fits by the gradient
    of its likelihood. Derivatives in weights of a sum are exact; those in other parameters are differences of kernel
    values in four points, which agree with the derivative in some nine digits.

    It can be added to and multiplied with scikit-learn's own kernels, such as ``WhiteKernel`` and ``ConstantKernel``.

    Parameters
    ----------
    kernel : Kernel or str
        Or its expression.
    ranges : mapping of str to (low, high) or "fixed", optional
        Of hyperparameters, by the names of ``kernel.get_params()``: ``{"tree__decay": (0.1, 0.9), "flat__weight":
        "fixed"}``. By default weights are between 0.001 and 1000, decays between 0.01 and 0.99, γ between 0.0001 and
        10000. With "fixed" for all, nothing is fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.gaussian_process import GaussianProcessRegressor
    >>> from sapwood.kernels import SubsetTree
    >>> trees = ["(NP (NN dog))", "(NP (JJ big) (NN dog))", "(NP (JJ big) (JJ old) (NN dog))"]
    >>> kernel = GPKernel(1.0 * SubsetTree(0.4).normalized().named("tree"))
    >>> [(one.name, one.bounds.tolist()) for one in kernel.hyperparameters]
    [('tree__weight', [[0.001, 1000.0]]), ('tree__decay', [[0.01, 0.99]])]
    >>> model = GaussianProcessRegressor(kernel, optimizer=None, normalize_y=True).fit(trees, [1.0, 2.0, 3.0])
    >>> mean, deviation = model.predict(["(NP (JJ old) (NN dog))"], return_std=True)
    >>> mean.shape, bool(deviation[0] > 0)
    ((1,), True)
    """

    def __init__(self, kernel: Any, ranges: Mapping[str, Any] | None = None) -> None:
        self.kernel = kernel
        self.ranges = ranges

    @staticmethod
    def rows(X: Any) -> NDArray[np.object_]:
        """Return examples as an array of objects with one of them per row, which is what ``Examples`` become anyway."""
        X = as_data(X)
        if isinstance(X, Examples):
            return X.__array__()
        result = np.empty(X.shape[0], dtype=object)
        for at in range(X.shape[0]):
            result[at] = X[at]
        return result

    # What scikit-learn asks of its kernels.

    @property
    def hyperparameters(self) -> list[Hyperparameter]:
        """The parameters that are fitted, with their bounds."""
        kernel = self._kernel()
        params, full = kernel.get_params(), kernel._full_params()
        ranges = dict(self.ranges or {})
        if unknown := set(ranges) - set(params):
            name = min(unknown)
            ends = [one for one in params if one.rpartition("__")[2] == name.rpartition("__")[2]]
            close = get_close_matches(name, params, n=1, cutoff=0.6)
            hint = f"; did you mean {min([*ends, *close], key=len)}?" if ends or close else "."
            raise ParameterError(f"ranges names {name!r}; the kernel has {', '.join(sorted(params))}{hint}")
        shorts = {id(part): name for name, part in params.items() if name not in full and isinstance(part, Kernel)}
        names = [name for name in params if name not in full] if shorts else list(full)
        found = []
        for name in dict.fromkeys([*names, *ranges]):
            default = _RANGES.get(name.rpartition("__")[2])
            value, given = params[name], ranges.get(name, default)
            if given is None or isinstance(given, str) or not is_finite(value) or isinstance(value, bool):
                if isinstance(given, str) and given != "fixed":
                    raise ParameterError(f"ranges[{name!r}] must be (low, high) or 'fixed', got {given!r}.")
                continue
            found.append(Hyperparameter(name, "numeric", _checked(name, given)))
        return found

    @property
    def theta(self) -> Matrix:
        """The logarithms of the parameters that are fitted."""
        params = self._kernel().get_params()
        return np.log(np.array([float(params[one.name]) for one in self.hyperparameters], dtype=np.float64))

    @theta.setter
    def theta(self, theta: Matrix) -> None:
        names = [one.name for one in self.hyperparameters]
        self.kernel = self._kernel().copy().set_params(**dict(zip(names, np.exp(theta).tolist(), strict=True)))

    @property
    def bounds(self) -> Matrix:
        """The logarithms of the bounds of the parameters that are fitted."""
        bounds = [one.bounds for one in self.hyperparameters]
        return np.log(np.vstack(bounds)) if bounds else np.zeros((0, 2))

    def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
        """Return the Gram matrix; with ``eval_gradient`` also its derivatives in ``theta``, on the last axis."""
        kernel, left = self._kernel(), _joined(X)
        if Y is not None:
            if eval_gradient:
                raise DataError("derivatives are those of X with itself; leave Y out.")
            return kernel(left, _joined(Y))
        parts = [(weight, part, part(left)) for weight, part in kernel.summands()]
        K = sum(weight * values for weight, _, values in parts)
        if not eval_gradient:
            return K
        gradient = np.empty((*K.shape, len(self.theta)))
        for column, one in enumerate(self.hyperparameters):
            gradient[:, :, column] = _derivative(kernel, one.name, parts, left)
        return K, gradient

    def diag(self, X: Any) -> Matrix:
        """Return the values of examples with themselves."""
        return self._kernel().diag(_joined(X))

    def is_stationary(self) -> bool:
        """Return that values depend on more than a difference."""
        return False

    def __repr__(self) -> str:
        return f"GPKernel({self._kernel()!r})"

    def _summary(self) -> dict[str, Any]:
        fitted = [f"{one.name} in {one.bounds[0][0]:g} to {one.bounds[0][1]:g}" for one in self.hyperparameters]
        return {"kernel": repr(self._kernel()), "fitted": ", ".join(fitted) or "nothing"}

    def _kernel(self) -> Kernel:
        return check_kernel(self.kernel)


def _checked(name: str, given: Any) -> Any:
    low, high = (float(value) for value in given) if len(given) == 2 else (0.0, 0.0)
    if not 0 < low < high < np.inf:
        raise ParameterError(f"ranges[{name!r}] must be (low, high) with 0 < low < high, got {given!r}.")
    if name.endswith("decay") and high > 0.999:
        raise ParameterError(f"ranges[{name!r}] must end at 0.999 or below, since a decay is at most 1; got {given!r}.")
    return (low, high)


def _derivative(kernel: Kernel, name: str, parts: list[tuple[float, Kernel, Matrix]], X: Any) -> Matrix:
    """Return the derivative of the Gram matrix in the logarithm of a parameter."""
    value = float(kernel.get_params()[name])

    def moved(step: float) -> list[tuple[float, Kernel]]:
        return kernel.copy().set_params(**{name: value * float(np.exp(step))}).summands()

    result = np.zeros_like(parts[0][2])
    further = {step: moved(step) for step in (-_STEP, -_STEP / 2, _STEP / 2, _STEP)}
    for at, (weight, part, values) in enumerate(parts):
        if all(summands[at][1] == part for summands in further.values()):
            if any(summands[at][0] != weight for summands in further.values()):
                result += weight * values  # d(w K) / d log w
            continue
        found = {step: summands[at][1](X) for step, summands in further.items()}
        wide = (found[_STEP] - found[-_STEP]) / (2 * _STEP)
        narrow = (found[_STEP / 2] - found[-_STEP / 2]) / _STEP
        result += weight * (4 * narrow - wide) / 3  # Richardson: the error is of fourth order
    return result


_known: dict[int, tuple[Any, Any]] = {}  # arrays of rows that were joined last, by identity


def _joined(X: Any) -> Any:
    """Return examples from the array of rows that scikit-learn makes of them; what was joined last is kept."""
    if not (isinstance(X, np.ndarray) and X.dtype == object):
        return as_data(X)
    found = _known.get(id(X))
    if found is not None and found[0]() is X:
        return found[1]
    data = _join(list(X)) if len(X) and isinstance(X[0], Examples) else as_data(X)
    if len(_known) > 8:
        _known.clear()
    _known[id(X)] = (weakref.ref(X), data)
    return data


def _join(rows: list[Examples]) -> Examples:
    views: dict[str, Any] = {}
    for name in rows[0].views:
        values = [row[name] for row in rows]
        if isinstance(values[0], TreeArray):
            views[name] = concatenate([value._compact() for value in values])
        else:
            stack = sparse.vstack if sparse.issparse(values[0]) else np.concatenate
            views[name] = stack(values)
    return Examples(**views)
