"""What every estimator of Sapwood must do, by kind: scikit-learn's own checks stop early on input that is no matrix.

``checks_of(specimen)`` yields the checks that apply to an estimator, each a function of a specimen and an empty folder.
Which apply depends on the kind of the estimator (classifier, regressor, ranker, transformer, parser, labeler) and on
what it has: a ``score``, a ``random_state``, a kernel.
"""

from __future__ import annotations

import copy
import importlib
import inspect
import io
import pickle
import pkgutil
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import estimator_html_repr, get_tags

import sapwood as sw
from sapwood.errors import DataError, SapwoodError
from sapwood.learn import KernelSVC
from sapwood.learn.groups import RankerMixin
from sapwood.learn.recursive_model import RecursiveModel
from sapwood.parse import BaseParser, SpanParser
from specimens import Specimen

__all__ = ["checks_of", "estimators", "kind_of"]

Check = Callable[[Specimen, Path], None]

# Bases of others, and what stands for a parser that could not be loaded.
NOT_ESTIMATORS = {"BaseParser", "KernelModel", "LearnedParser", "MissingParser", "RecursiveModel"}


def estimators() -> dict[str, type]:
    """Every estimator that Sapwood defines, by name."""
    found = {}
    for module in pkgutil.walk_packages(sw.__path__, "sapwood."):
        if module.name.endswith("__main__") or (module.name == "sapwood.torch" and find_spec("torch") is None):
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            ours = inspect.isclass(value) and value.__module__.startswith("sapwood.")
            if ours and issubclass(value, BaseEstimator) and not name.startswith("_") and name not in NOT_ESTIMATORS:
                found[value.__name__] = value
    return found


def kind_of(estimator: Any) -> str:
    if isinstance(estimator, BaseParser):
        return "parser"
    if is_classifier(estimator):
        return "classifier"
    if is_regressor(estimator):
        return "regressor"
    if isinstance(estimator, RankerMixin):
        return "ranker"
    return "transformer" if hasattr(estimator, "transform") else "labeler"


# --- helpers


def rows(answer: Any) -> list[Any]:
    """One comparable value per example."""
    answer = answer.toarray() if hasattr(answer, "toarray") else answer
    return [row if isinstance(row, (np.ndarray, np.generic, str)) else repr(row) for row in answer]


def assert_same(found: Any, expected: Any, rtol: float = 0.0) -> None:
    found, expected = rows(found), rows(expected)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        if isinstance(other, (np.ndarray, np.generic)) and np.asarray(other).dtype.kind == "f":
            np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol)
        else:
            np.testing.assert_array_equal(one, other)


def assert_same_parameters(found: Any, expected: Any) -> None:
    # Sets are the same in any order, and copies of estimators are told by what they show.
    for name, value in expected.get_params(deep=False).items():
        kept = found.get_params(deep=False)[name]
        assert kept == value or repr(kept) == repr(value), name


def content(value: Any) -> Any:
    """What data hold, to see whether they have changed."""
    if isinstance(value, sw.TreeArray):
        return value.to_strings()
    if isinstance(value, sw.Examples):
        return {name: content(value[name]) for name in value.views}
    if isinstance(value, np.ndarray):
        return value.tolist()
    return repr(list(value)) if isinstance(value, list) else repr(value)


def take(X: Any, chosen: Any) -> Any:
    """Some examples of those that can be indexed."""
    return [X[at] for at in chosen] if isinstance(X, list) else X[np.asarray(chosen, dtype=int)]


def can_be_taken(X: Any) -> bool:
    return isinstance(X, (list, np.ndarray, sw.TreeArray, sw.Examples)) or type(X).__name__ == "RoleArguments"


def fit_on(specimen: Specimen, model: Any, chosen: Any) -> Any:
    """Fit on some of the examples."""
    X, y = specimen.data()
    further = {
        name: value[np.asarray(chosen)] if isinstance(value, np.ndarray) else value
        for name, value in specimen.fit_with().items()
    }
    return model.fit(take(X, chosen), *([] if y is None else [y[np.asarray(chosen)]]), **further)


def some(specimen: Specimen) -> np.ndarray:
    """Half of the examples, of every class and whole groups."""
    count = len(specimen.data()[0])
    return np.arange(count)[: max(count // 2, 1)]


# --- parameters


def check_constructor_only_stores(specimen: Specimen, folder: Path) -> None:
    kind = type(specimen.make())
    parameters = inspect.signature(kind).parameters
    required = [name for name, one in parameters.items() if one.default is inspect.Parameter.empty]
    plain = kind(**dict.fromkeys(required, "x"))
    for name, one in parameters.items():
        if name not in required:
            assert getattr(plain, name) is one.default, name
        nonsense = object()
        assert getattr(kind(**{**dict.fromkeys(required, "x"), name: nonsense}), name) is nonsense, name
    assert set(vars(plain)) == set(parameters), "a constructor sets parameters and nothing else"


def check_parameters(specimen: Specimen, folder: Path) -> None:
    model = specimen.make()
    again = clone(model)
    assert again is not model
    assert_same_parameters(again, model)
    assert type(model).__name__ in repr(model)
    assert model.set_params() is model
    with pytest.raises(ValueError, match="nonsense"):
        model.set_params(nonsense=1)
    for name, values in specimen.search.items():
        for value in values:
            assert again.set_params(**{name: value}) is again
            assert again.get_params()[name] == value


def check_tags(specimen: Specimen, folder: Path) -> None:
    model = specimen.make()
    tags, kind = get_tags(model), kind_of(model)
    assert tags.estimator_type == (kind if kind in ("classifier", "regressor") else None)
    assert (tags.transformer_tags is not None) == (kind == "transformer")
    assert tags.target_tags.required == (kind in ("classifier", "regressor", "ranker"))
    takes_rows = isinstance(specimen.data()[0], np.ndarray)
    assert (tags.input_tags.two_d_array, tags.input_tags.one_d_array) == (takes_rows, not takes_rows)


# --- fit


def check_fit_changes_nothing_but_the_estimator(specimen: Specimen, folder: Path) -> None:
    model = specimen.make()
    X, y = specimen.data()
    before = repr(model.get_params()), content(X), content(y) if y is not None else None
    assert specimen.fit(model) is model
    assert (repr(model.get_params()), content(X), content(y) if y is not None else None) == before


def check_fitted_attributes_end_in_an_underscore(specimen: Specimen, folder: Path) -> None:
    model = specimen.make()
    parameters = set(vars(model))
    specimen.fit(model)
    learnt = {name for name in set(vars(model)) - parameters if not name.startswith("_")}
    assert all(name.endswith("_") for name in learnt), learnt
    assert learnt or not get_tags(model).requires_fit


def check_y_may_be_left_out_or_given(specimen: Specimen, folder: Path) -> None:
    second = list(inspect.signature(type(specimen.make()).fit).parameters.values())[2]
    assert second.name == "y"
    if specimen.data()[1] is None:
        assert second.default is None


def check_unfitted_says_so(specimen: Specimen, folder: Path) -> None:
    model = specimen.make()
    X = specimen.examples()
    if not get_tags(model).requires_fit:
        specimen.ask(model, X)
        return
    with pytest.raises(NotFittedError, match=type(model).__name__):
        specimen.ask(model, X)
    for method in ("predict", "predict_proba", "decision_function", "transform"):
        # Only some losses of rankers have probabilities, and the others say that first.
        if hasattr(model, method) and not (kind_of(model) == "ranker" and method == "predict_proba"):
            with pytest.raises(NotFittedError, match=type(model).__name__):
                getattr(model, method)(X)


def check_fitting_again_is_fitting_afresh(specimen: Specimen, folder: Path) -> None:
    model = specimen.make()
    if can_be_taken(specimen.data()[0]):
        fit_on(specimen, model, some(specimen))
    first = specimen.ask(specimen.fit(model), specimen.examples())
    assert_same(specimen.ask(specimen.fit(specimen.make()), specimen.examples()), first)
    assert_same(specimen.ask(specimen.fit(clone(model)), specimen.examples()), first)


def check_threads_do_not_matter(specimen: Specimen, folder: Path) -> None:
    found = []
    for threads in (1, 2):
        with sw.options(threads=threads):
            found.append(specimen.ask(specimen.fitted(), specimen.examples()))
    assert_same(*found)


def check_a_seed_decides(specimen: Specimen, folder: Path) -> None:
    for seed in (3, np.int64(3)):
        found = [
            specimen.ask(specimen.fit(specimen.make().set_params(random_state=seed)), specimen.examples())
            for _ in range(2)
        ]
        assert_same(*found)


# --- answers


def check_rows_are_independent(specimen: Specimen, folder: Path) -> None:
    model, X = specimen.fitted(), specimen.examples()
    whole = rows(specimen.ask(model, X))
    assert len(whole) == len(X)
    alone = [rows(specimen.ask(model, take(X, [at])))[0] for at in range(len(X))]
    assert_same(alone, whole, rtol=1e-12)
    order = np.random.default_rng(0).permutation(len(X))
    assert_same(specimen.ask(model, take(X, order)), [whole[at] for at in order], rtol=1e-12)


def check_nothing_for_nothing(specimen: Specimen, folder: Path) -> None:
    assert len(rows(specimen.ask(specimen.fitted(), take(specimen.examples(), [])))) == 0


def check_every_form_of_trees(specimen: Specimen, folder: Path) -> None:
    """Trees may be an array, a list, text in brackets, or NLTK's."""
    X, y = specimen.data()
    asked = specimen.examples()
    expected = specimen.ask(specimen.fitted(), asked)
    further = specimen.fit_with()
    targets = [] if y is None else [y]
    for form in (
        list,
        lambda trees: trees.to_strings(),
        lambda trees: [tree.to_nltk() for tree in trees],
        np.asarray,
    ):
        model = specimen.make().fit(form(X), *targets, **further)
        assert_same(specimen.ask(model, form(asked) if isinstance(asked, sw.TreeArray) else asked), expected)
    if y is not None:
        assert_same(specimen.ask(specimen.make().fit(X, list(y), **further), asked), expected)


def check_shapes_of_answers(specimen: Specimen, folder: Path) -> None:
    model, X = specimen.fitted(), specimen.examples()
    found = model.predict(X)
    assert found.shape == (len(X),)
    if is_classifier(model):
        assert list(model.classes_) == sorted(set(model.classes_))
        assert set(found) <= set(model.classes_)
        assert found.dtype == model.classes_.dtype
        count = len(model.classes_)
        assert model.decision_function(X).shape == ((len(X),) if count == 2 else (len(X), count))
        if hasattr(model, "predict_proba"):
            shares = model.predict_proba(X)
            assert shares.shape == (len(X), count)
            np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def check_scores_of_rankers(specimen: Specimen, folder: Path) -> None:
    model, (X, y) = specimen.fitted(), specimen.data()
    groups = specimen.fit_with()["groups"]
    assert model.decision_function(X).shape == model.predict_rank(X, groups).shape == (len(X),)
    assert_same(groups[model.predict(X, groups)], np.unique(groups))
    assert 0.0 <= model.score(X, y, groups) <= 1.0


def check_transformed_columns(specimen: Specimen, folder: Path) -> None:
    X, y = specimen.data()
    model = specimen.fitted()
    together = model.transform(X)
    assert together.shape[0] == len(X)
    assert_same(specimen.make().fit_transform(X, y), together)
    assert model.transform(specimen.examples()).shape[1] == together.shape[1]
    if hasattr(model, "get_feature_names_out"):
        assert len(set(model.get_feature_names_out())) == together.shape[1]


# --- copies and files


def check_copies(specimen: Specimen, folder: Path) -> None:
    model, X = specimen.fitted(), specimen.examples()
    expected = specimen.ask(model, X)
    stream = io.BytesIO()
    joblib.dump(model, stream)
    stream.seek(0)
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), joblib.load(stream)):
        assert type(again) is type(model)
        assert_same(specimen.ask(again, X), expected)


def check_files(specimen: Specimen, folder: Path) -> None:
    model, path = specimen.make(), folder / "model.sap"
    if not specimen.external:
        if get_tags(model).requires_fit:
            with pytest.raises(NotFittedError, match=type(model).__name__):
                sw.save(model, path)
            assert not path.exists()
        specimen.fit(model)
    sw.save(model, path)
    again = sw.load(path)
    assert type(again) is type(model)
    assert_same_parameters(again, model)
    if not specimen.external:
        assert_same(specimen.ask(again, specimen.examples()), specimen.ask(model, specimen.examples()))


# --- what is refused


def check_refuses_what_are_no_examples(specimen: Specimen, folder: Path) -> None:
    y = specimen.data()[1]
    model = specimen.fitted()
    for wrong in (3, object()):
        with pytest.raises(SapwoodError, match=r"expected|must"):
            specimen.ask(model, wrong)
        if get_tags(model).requires_fit:
            with pytest.raises(SapwoodError, match=r"expected|must"):
                specimen.make().fit(wrong, *([] if y is None else [y]), **specimen.fit_with())


def check_refuses_no_examples(specimen: Specimen, folder: Path) -> None:
    with pytest.raises(DataError, match=r"no \w+"):
        fit_on(specimen, specimen.make(), np.arange(0))


def check_a_fit_that_fails_changes_nothing(specimen: Specimen, folder: Path) -> None:
    model, X = specimen.fitted(), specimen.examples()
    before = specimen.ask(model, X)
    with pytest.raises((SapwoodError, ValueError)):
        fit_on(specimen, model, np.arange(0))
    assert_same(specimen.ask(model, X), before)


def check_refuses_targets_that_do_not_fit(specimen: Specimen, folder: Path) -> None:
    X, y = specimen.data()
    model, further = specimen.make(), specimen.fit_with()
    with pytest.raises(DataError, match=r"\d+ .*\d+"):
        model.fit(X, y[:-1], **further)
    if inspect.signature(model.fit).parameters["y"].default is inspect.Parameter.empty:
        with pytest.raises(ValueError, match="target"):
            model.fit(X, None, **further)
    if is_classifier(model):
        with pytest.raises(DataError, match="only the class"):
            model.fit(X, np.full(len(y), y[0]))
    if is_regressor(model) or isinstance(model, RankerMixin):
        with pytest.raises(DataError, match=r"NaN|finite"):
            model.fit(X, np.full(len(y), np.nan), **further)
    assert not [name for name in vars(model) if name.endswith("_")]


def check_refuses_other_columns(specimen: Specimen, folder: Path) -> None:
    model, X = specimen.fitted(), specimen.examples()
    if isinstance(X, np.ndarray):
        wrong: Any = X[:, :-1]
    else:
        wrong = sw.Examples(**{name: X[name] for name in list(X.views)[:-1]})
    with pytest.raises(DataError, match=r"second|features|columns"):
        specimen.ask(model, wrong)


def check_sample_weight(specimen: Specimen, folder: Path) -> None:
    X, y = specimen.data()
    asked = specimen.examples()
    plain = specimen.ask(specimen.fitted(), asked)
    assert_same(specimen.ask(specimen.make().fit(X, y, sample_weight=np.ones(len(y))), asked), plain)
    with pytest.raises(DataError, match="sample_weight"):
        specimen.make().fit(X, y, sample_weight=[1.0])


def check_refuses_a_bad_c(specimen: Specimen, folder: Path) -> None:
    for wrong in (0, -1.0, float("nan"), float("inf"), "much", True):
        with pytest.raises(ValueError, match="C must be"):
            specimen.fit(specimen.make().set_params(C=wrong))


def check_refuses_what_is_no_kernel(specimen: Specimen, folder: Path) -> None:
    with pytest.raises(ValueError, match="kernel must be"):
        specimen.fit(specimen.make().set_params(kernel="rbf"))


# --- inside scikit-learn


def check_cross_validation(specimen: Specimen, folder: Path) -> None:
    X, y = specimen.data()
    if "groups" in specimen.fit_with():
        groups = specimen.fit_with()["groups"]
        with config_context(enable_metadata_routing=True):
            asked = specimen.make().set_fit_request(groups=True).set_score_request(groups=True)
            scores = cross_val_score(asked, X, y, params={"groups": groups}, cv=GroupKFold(2), error_score="raise")
    else:
        scores = cross_val_score(specimen.make(), X, y, cv=2, params=specimen.fit_with() or None, error_score="raise")
    assert scores.shape == (2,)
    assert np.isfinite(scores).all()


def check_grid_search_in_processes(specimen: Specimen, folder: Path) -> None:
    X, y = specimen.data()
    ((name, values),) = specimen.search.items()
    options = {"n_jobs": 2, "error_score": "raise"}
    if "groups" in specimen.fit_with():
        with config_context(enable_metadata_routing=True):
            asked = specimen.make().set_fit_request(groups=True).set_score_request(groups=True)
            search = GridSearchCV(asked, specimen.search, cv=GroupKFold(2), **options)
            search.fit(X, y, groups=specimen.fit_with()["groups"])
    else:
        search = GridSearchCV(specimen.make(), specimen.search, cv=2, **options).fit(X, y, **specimen.fit_with())
    assert search.best_params_[name] in values
    best = specimen.fit(specimen.make().set_params(**search.best_params_))
    examples = specimen.examples()
    assert_same(specimen.ask(search.best_estimator_, examples), specimen.ask(best, examples))


def check_pipeline(specimen: Specimen, folder: Path) -> None:
    """A transformer before a classifier, a classifier behind a transformer of trees."""
    X, y = specimen.data()
    model = specimen.make()
    if kind_of(model) == "parser":
        texts = [" ".join(tree.leaves()) for tree in X]
        labels = np.arange(len(texts)) % 2
        pipeline = make_pipeline(specimen.fit(model), KernelSVC()).fit(texts, labels)
        assert pipeline.predict(texts).shape == (len(texts),)
    elif kind_of(model) == "transformer":
        assert make_pipeline(model, RidgeClassifier()).fit(X, y).predict(X).shape == (len(y),)
    else:
        pipeline = make_pipeline(FunctionTransformer(sw.trees.collapse_unary), model).fit(X, y)
        assert pipeline.predict(X).shape == (len(y),)


def check_a_frame(specimen: Specimen, folder: Path) -> None:
    """Trees may be a column of a data frame, or a column of objects as scikit-learn's ensembles make them."""
    X, y = specimen.data()
    asked = specimen.examples()
    expected = specimen.ask(specimen.fitted(), asked)
    for form in (
        lambda trees: pd.DataFrame({"tree": list(trees)})["tree"],
        lambda trees: pd.DataFrame({"tree": trees.to_strings()})["tree"],
    ):
        targets = [] if y is None else [pd.Series(y)]
        model = specimen.make().fit(form(X), *targets, **specimen.fit_with())
        assert_same(specimen.ask(model, form(asked) if isinstance(asked, sw.TreeArray) else asked), expected)


def check_arrow(specimen: Specimen, folder: Path) -> None:
    """Trees may be a column of Arrow's, as pyarrow, pandas and polars have it, and trees in brackets too."""
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    X, y = specimen.data()
    asked = specimen.examples()

    def answers(model: Any, asked: Any) -> Any:
        found = specimen.ask(model, asked)
        # Columns come in the order in which trees were stored, which is another one here.
        return found @ found.T if kind_of(model) == "transformer" else found

    expected = answers(specimen.fitted(), asked)
    forms: list[Callable[[sw.TreeArray], Any]] = [
        lambda trees: trees.to_arrow(),
        lambda trees: arrow.chunked_array([trees[:1].to_arrow(), trees[1:].to_arrow()]),
        lambda trees: arrow.table({"tree": trees.to_strings()})["tree"],
        lambda trees: trees.to_pandas(),
        lambda trees: pd.Series(trees.to_arrow().to_pandas(types_mapper=pd.ArrowDtype)),
    ]
    if find_spec("polars") is not None:
        import polars

        forms.append(lambda trees: polars.Series("tree", trees.to_arrow()))
        forms.append(lambda trees: polars.Series("tree", trees.to_strings()))
    # Networks start from random numbers, label by label in the order in which trees were stored.
    ordered = isinstance(specimen.make(), (RecursiveModel, SpanParser))
    for form in forms:
        given = form(asked) if isinstance(asked, sw.TreeArray) else asked
        if not ordered:
            model = specimen.make().fit(form(X), *([] if y is None else [y]), **specimen.fit_with())
            assert_same(answers(model, given), expected, rtol=1e-9)
        assert_same(answers(specimen.fitted(), given), expected, rtol=1e-9)
    if ordered:
        model = specimen.make().fit(forms[0](X), *([] if y is None else [y]), **specimen.fit_with())
        assert len(rows(answers(model, asked))) == len(rows(expected))


def check_diagrams(specimen: Specimen, folder: Path) -> None:
    """scikit-learn's diagrams name the estimator, alone and in a pipeline, before and after training."""
    for model in (specimen.make(), *([] if specimen.external else [specimen.fitted()])):
        name = type(model).__name__
        assert name in estimator_html_repr(model)
        assert name in model._repr_mimebundle_()["text/html"]
        assert name in estimator_html_repr(make_pipeline(FunctionTransformer(), model))


def check_sample_weight_is_routed(specimen: Specimen, folder: Path) -> None:
    X, y = specimen.data()
    weight = np.linspace(0.5, 1.5, len(y))
    with config_context(enable_metadata_routing=True):
        asked = specimen.make().set_fit_request(sample_weight=True)
        step = FunctionTransformer(lambda data: data)
        pipeline = make_pipeline(step, asked).fit(X, y, sample_weight=weight)
    expected = specimen.make().fit(X, y, sample_weight=weight)
    assert_same(specimen.ask(pipeline[-1], specimen.examples()), specimen.ask(expected, specimen.examples()))


def check_set_output(specimen: Specimen, folder: Path) -> None:
    """Dense columns come as a frame with their names; sparse ones say that they cannot."""
    X, y = specimen.data()
    model = specimen.make().set_output(transform="pandas").fit(X, y)
    plain = specimen.fitted().transform(X)
    if hasattr(plain, "toarray"):
        with pytest.raises(ValueError, match="sparse"):
            model.transform(X)
        return
    found = model.transform(X)
    assert isinstance(found, pd.DataFrame)
    assert list(found.columns) == list(model.get_feature_names_out())
    np.testing.assert_array_equal(found.to_numpy(), plain)


def check_probabilities(specimen: Specimen, folder: Path) -> None:
    """Probabilities serve scikit-learn's scorers."""
    X, y = specimen.data()
    model = specimen.fitted()
    shares = model.predict_proba(X)
    assert shares.min() >= 0.0
    assert shares.max() <= 1.0
    auc = "roc_auc" if len(model.classes_) == 2 else "roc_auc_ovr"
    for name in ("neg_log_loss", auc):
        assert np.isfinite(get_scorer(name)(model, X, y))


# --- which check is for whom


def checks_of(specimen: Specimen) -> Iterator[Check]:
    """Yield the checks that apply to an estimator."""
    model = specimen.make()
    kind, parameters = kind_of(model), model.get_params(deep=False)
    yield check_constructor_only_stores
    yield check_parameters
    if specimen.stored:
        yield check_files
    yield check_diagrams
    if specimen.external:
        return
    yield from (
        check_tags,
        check_fit_changes_nothing_but_the_estimator,
        check_fitted_attributes_end_in_an_underscore,
        check_y_may_be_left_out_or_given,
        check_unfitted_says_so,
        check_fitting_again_is_fitting_afresh,
        check_threads_do_not_matter,
        check_copies,
        check_refuses_what_are_no_examples,
    )
    X, y = specimen.data()
    if "random_state" in parameters:
        yield check_a_seed_decides
    if can_be_taken(specimen.examples()):
        yield check_rows_are_independent
        yield check_nothing_for_nothing
    if can_be_taken(X) and get_tags(model).requires_fit:
        yield check_refuses_no_examples
        yield check_a_fit_that_fails_changes_nothing
    if isinstance(X, sw.TreeArray):
        yield check_every_form_of_trees
        yield check_a_frame
        yield check_arrow
    if isinstance(X, (np.ndarray, sw.Examples)):
        yield check_refuses_other_columns
    if kind in ("classifier", "regressor"):
        yield check_shapes_of_answers
    if kind == "classifier" and hasattr(model, "predict_proba") and y is not None:
        yield check_probabilities
    if kind in ("classifier", "regressor", "ranker") and y is not None:
        yield check_refuses_targets_that_do_not_fit
    if kind == "ranker":
        yield check_scores_of_rankers
    if kind == "transformer":
        yield check_transformed_columns
        if hasattr(model, "set_output"):
            yield check_set_output
    if "sample_weight" in inspect.signature(model.fit).parameters:
        yield check_sample_weight
        yield check_sample_weight_is_routed
    if "C" in parameters:
        yield check_refuses_a_bad_c
    if isinstance(parameters.get("kernel"), sw.kernels.Kernel):
        yield check_refuses_what_is_no_kernel
    if hasattr(model, "score") and "y" in inspect.signature(model.score).parameters and can_be_taken(X):
        yield check_cross_validation
        if specimen.search:
            yield check_grid_search_in_processes
    if kind in ("parser", "transformer") or (kind in ("classifier", "regressor") and isinstance(X, sw.TreeArray)):
        yield check_pipeline
