"""Any kernel as an approximate feature map: values against landmark examples, after Nyström.

The mathematics is scikit-learn's ``Nystroem``, which takes matrices only; here examples of any kind are turned into
kernel values against landmarks first.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.kernel_approximation import Nystroem
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sapwood.checks import check_limit
from sapwood.errors import DataError, ParameterError
from sapwood.fitting import SequenceInput, all_or_nothing
from sapwood.interrupts import leave_behind
from sapwood.kernels.base import Kernel
from sapwood.kernels.choice import KERNEL, ChoosesKernel
from sapwood.kernels.data import as_data, detached
from sapwood.kernels.evaluation import finite_gram
from sapwood.layouts import array_of, part_of, register_estimator
from sapwood.registry import Reader
from sapwood.trees.store import VIEW

__all__ = ["LandmarkMap"]


class LandmarkMap(ChoosesKernel, ClassNamePrefixFeaturesOutMixin, TransformerMixin, SequenceInput, BaseEstimator):
    """Examples as dense vectors whose dot product approximates a kernel (Nyström's method).

    Exact between landmarks; elsewhere the better, the more landmarks there are. Memory is that of one kernel matrix
    between examples and landmarks, never of the whole Gram matrix.

    Parameters
    ----------
    kernel : Kernel, optional
        By default ``SubsetTree(decay=0.4).normalized()``.
    n_components : int
        How many training examples serve as landmarks; all of them if there are fewer.
    random_state : int, RandomState or None
        Which ones.

    Attributes
    ----------
    landmarks_ : TreeArray or Examples
    kernel_ : Kernel
        The kernel with everything that it takes from training data.
    normalization_ : array of shape (landmarks, landmarks)
        Turns kernel values against landmarks into vectors.

    Examples
    --------
    >>> from sapwood.kernels import LandmarkMap, SubsetTree
    >>> trees = ["(NP (DT a) (NN dog))", "(NP (DT a) (NN cat))", "(VP (VB run))"]
    >>> V = LandmarkMap(SubsetTree(), n_components=3, random_state=0).fit_transform(trees)
    >>> bool(np.allclose(V @ V.T, SubsetTree()(trees)))
    True
    """

    kernel_: Kernel
    landmarks_: Any
    normalization_: NDArray[np.float64]

    def __init__(self, kernel: Any = None, *, n_components: int = 100, random_state: Any = None) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the landmarks from the training examples."""
        kernel = self._chosen_kernel()
        check_limit(self.n_components, "n_components")
        X = as_data(X)
        if not X.shape[0]:
            raise DataError("there is nothing to draw landmarks from: X has no examples.")
        try:
            random = check_random_state(self.random_state)
        except ValueError as error:
            raise ParameterError(f"random_state cannot be used: {error}.") from None
        self.kernel_ = kernel.bind(X)
        chosen = random.permutation(X.shape[0])[: self.n_components]
        self.landmarks_ = detached(X, chosen)
        basis = Nystroem(kernel="precomputed", n_components=len(chosen), random_state=0)
        K = finite_gram(self.kernel_, self.landmarks_, None, chosen)
        # The decomposition of a few thousand landmarks takes a minute.
        self.normalization_ = leave_behind(lambda: basis.fit(K)).normalization_
        return self

    @property
    def _n_features_out(self) -> int:
        """How many columns there are, for their names: landmarkmap0, landmarkmap1 and so on."""
        return int(self.landmarks_.shape[0])

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return one row per example, with as many columns as there are landmarks."""
        check_is_fitted(self)
        X = as_data(X)
        if not X.shape[0]:
            return np.zeros((0, self.landmarks_.shape[0]))
        return np.asarray(self.kernel_(X, self.landmarks_) @ self.normalization_.T)


def _check_shape(mapped: LandmarkMap, reader: Reader) -> None:
    if mapped.normalization_.shape != (mapped.landmarks_.shape[0],) * 2:
        raise reader.fail("the landmarks do not fit their normalisation")


register_estimator(
    LandmarkMap,
    parameters={"kernel": KERNEL},
    fitted={
        "kernel_": part_of(Kernel).at("fitted_kernel"),
        "landmarks_": VIEW,
        "normalization_": array_of(np.float64, 2),
    },
    finish=_check_shape,
)
