"""Training that fails or is stopped leaves an estimator as it was."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from sapwood.errors import KernelError
from sapwood.fitting import all_or_nothing
from sapwood.kernels import SubsetTree
from sapwood.learn import KernelSVC


class Counter:
    """Sets attributes, and raises what it is given."""

    def __init__(self) -> None:
        self.kept = 1

    @all_or_nothing
    def fit(self, value: int, *, error: BaseException | None = None) -> Counter:
        """Set two attributes."""
        self.kept = value
        self.new = value
        if error is not None:
            raise error
        return self


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt()])
def test_nothing_is_left_of_an_attempt(error):
    counter = Counter()
    with pytest.raises(type(error)):
        counter.fit(2, error=error)
    assert vars(counter) == {"kept": 1}
    assert counter.fit(3) is counter
    assert vars(counter) == {"kept": 3, "new": 3}


def test_signature_and_docstring_stay():
    assert list(inspect.signature(Counter.fit).parameters) == ["self", "value", "error"]
    assert Counter.fit.__doc__ == "Set two attributes."


@pytest.mark.parametrize("error", [KernelError, KeyboardInterrupt])
def test_a_model_survives_a_training_that_fails_late(error, monkeypatch):
    trees = ["(S (A a))", "(S (B b))", "(S (A c))", "(S (B d))"]
    model = KernelSVC(SubsetTree()).fit(trees, ["x", "y", "x", "y"])
    before = model.predict(trees)

    def fail(*_):
        raise error("late")

    # By now the classes and the kernel of the new training are known.
    monkeypatch.setattr(KernelSVC, "_keep", fail)
    with pytest.raises(error, match="late"):
        model.fit(trees, ["p", "q", "p", "q"])
    np.testing.assert_array_equal(model.predict(trees), before)
