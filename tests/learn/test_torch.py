"""Layers of PyTorch that hold kernels and fragments: what the models that they are made from compute."""

from __future__ import annotations

import numpy as np
import pytest

import sapwood as sw
from sapwood.corpora import nursery
from sapwood.errors import DataError, ParameterError
from sapwood.kernels import FragmentMap, HashedFragmentMap, Linear, PartialTree, SubsetTree, Subtree
from sapwood.learn import KernelSVC, KernelSVR
from sapwood.trees import Examples

torch = pytest.importorskip("torch", reason="the layers are PyTorch's")
from sapwood.torch import FragmentLayer, KernelLayer  # noqa: E402  # after PyTorch is known to be there


@pytest.fixture(scope="module")
def questions():
    asked = [one for one in nursery.generate(size=300).sentences if one.label is not None]
    return sw.TreeArray([one.tree for one in asked]), np.array([one.label[0] for one in asked])


@pytest.mark.parametrize(
    "kernel", [Subtree(), SubsetTree(max_depth=2), 0.5 * SubsetTree(0.3, max_depth=2).normalized()]
)
@pytest.mark.parametrize("classes", [2, None])
def test_layers_compute_what_the_machine_does(questions, kernel, classes):
    X, y = questions
    labels = y if classes is None else (y == y[0])
    half = len(X) // 2
    model = KernelSVC(kernel, C=10).fit(X[:half], labels[:half])
    truth = model.decision_function(X[half:]).reshape(len(X) - half, -1)
    for layer in (KernelLayer.from_model(model), FragmentLayer.from_model(model)):
        with torch.no_grad():
            assert np.abs(layer(X[half:]).numpy() - truth).max() < 1e-9
            assert np.abs(layer(layer.rows(X[half:])).numpy() - truth).max() < 1e-9
            assert np.abs(layer.float()(X[half:]).numpy() - truth).max() < 1e-3


def test_sums_views_and_regression(questions):
    X, y = questions
    examples = Examples(tree=X, size=np.array([[len(tree.leaves())] for tree in X], dtype=float))
    kernel = PartialTree().normalized().on("tree") + 0.1 * Linear().on("size")
    model = KernelSVR(kernel).fit(examples, (y == y[0]).astype(float))
    layer = KernelLayer.from_model(model)
    assert layer(examples).detach().numpy()[:, 0] == pytest.approx(model.predict(examples), abs=1e-9)
    with pytest.raises(ParameterError, match=r"KernelLayer.from_model"):
        FragmentLayer.from_model(model)


def test_one_against_one_gives_margins_of_pairs(questions):
    X, y = questions
    model = KernelSVC(SubsetTree().normalized(), multi_class="ovo").fit(X, y)
    count = len(model.classes_)
    assert KernelLayer.from_model(model)(X[:3]).shape == (3, count * (count - 1) // 2)


@pytest.mark.parametrize("make", [KernelLayer, FragmentLayer])
def test_gradients_are_those_of_finite_differences(questions, make):
    X, y = questions
    model = KernelSVC(SubsetTree(max_depth=2).normalized()).fit(X[:60], y[:60] == y[0])
    layer = make.from_model(model)
    rows = layer.rows(X[60:75])

    def loss():
        return torch.tanh(layer(rows)).pow(2).sum()

    loss().backward()
    for parameter in (layer.weight, layer.bias):
        flat, gradient = parameter.detach().view(-1), parameter.grad.view(-1)
        for at in {0, len(flat) // 2, len(flat) - 1, int(gradient.abs().argmax())}:
            before, step = float(flat[at]), 1e-5
            values = []
            for shift in (step, -step):
                flat[at] = before + shift
                values.append(float(loss().detach()))
            flat[at] = before
            assert (values[0] - values[1]) / (2 * step) == pytest.approx(float(gradient[at]), rel=1e-6, abs=1e-8)


def test_a_network_learns_with_them(questions):
    X, y = questions
    target = torch.tensor(np.unique(y, return_inverse=True)[1])
    torch.manual_seed(0)
    fragments = FragmentLayer(FragmentMap(min_df=3, max_size=3).fit(X), outputs=8, dtype=torch.float32)
    torch.nn.init.normal_(fragments.weight, std=0.1)
    network = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Linear(8, int(target.max()) + 1))
    rows = fragments.rows(X)
    optimizer = torch.optim.Adam([*fragments.parameters(), *network.parameters()], lr=0.02)
    losses = []
    for _ in range(80):
        loss = torch.nn.functional.cross_entropy(network(fragments(rows)), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.2 * losses[0]


def test_any_map_will_do(questions):
    X, _ = questions
    layer = FragmentLayer(HashedFragmentMap(n_features=64), outputs=2)
    assert layer.weight.shape == (64, 2)
    assert layer(X[:4]).shape == (4, 2)


def test_what_is_refused(questions):
    X, y = questions
    with pytest.raises(ParameterError, match="trained KernelSVC"):
        KernelLayer.from_model(KernelSVC())
    with pytest.raises(ParameterError, match="outputs"):
        KernelLayer(SubsetTree(), X, 0)
    with pytest.raises(DataError, match="none to compare"):
        KernelLayer(SubsetTree(), [])
    with pytest.raises(ParameterError, match="kernel must be"):
        KernelLayer("sst", X)
    model = KernelSVC(PartialTree()).fit(X, y)
    with pytest.raises(ParameterError, match="PartialTree"):
        FragmentLayer.from_model(model)
