"""The classifier of pairs: learning, explaining, saving, the command line, and bad input."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.preprocessing import StandardScaler

import sapwood as sw
from fuzz.structure import Stored
from sapwood import corpora
from sapwood.cli import main
from sapwood.corpora import nursery
from sapwood.errors import DataError, FormatError, ModelFileError, ParameterError
from sapwood.experiments import EXPERIMENTS, Setting
from sapwood.experiments import pairs as pairs_experiment
from sapwood.experiments import run as run_experiment
from sapwood.learn.additive import AdditiveLogistic, penalty_path
from sapwood.parse import PCFGParser
from sapwood.tasks.pairs import PairClassifier, PairFeatures
from tiny_encoders import make_encoder

QUICK = PairFeatures(("lexical", "subset", "relaxed"), decays=(0.4, 0.1), coarse_decays=(0.4,))


@pytest.fixture(scope="module")
def data():
    garden = nursery.generate(size=600)
    first, second = ([getattr(pair, side) for pair in garden.pairs] for side in ("first", "second"))
    X = sw.Examples(first=garden.trees[first], second=garden.trees[second])
    return X, np.array(["same" if pair.same else "other" for pair in garden.pairs])


@pytest.fixture(scope="module")
def model(data):
    X, y = data
    return PairClassifier(QUICK).fit(X[:150], y[:150])


class TestModel:
    def test_it_learns_something(self, data, model):
        X, y = data
        # A coin gets half; the garden is made so that words alone do not do.
        assert np.mean(model.predict(X[150:]) == y[150:]) > 0.65

    def test_probabilities_decisions_and_labels_agree(self, data, model):
        X, _ = data
        P, d = model.predict_proba(X), model.decision_function(X)
        np.testing.assert_allclose(P.sum(axis=1), 1.0)
        np.testing.assert_allclose(P[:, 1], 1 / (1 + np.exp(-d)))
        np.testing.assert_array_equal(model.predict(X), np.where(d > 0, "same", "other"))

    def test_explanations_add_up(self, data, model):
        X, _ = data
        for row in range(5):
            told = model.explain(X[row : row + 1], top=4)
            total = told.base + told.remainder + sum(added for _, _, added in told.rows)
            assert total == pytest.approx(told.decision, rel=1e-9)
            assert told.decision == pytest.approx(model.decision_function(X[row : row + 1])[0])
            assert told.label == model.predict(X[row : row + 1])[0]
            assert len(told.rows) == 4
            assert "all other features" in str(told)

    def test_one_pair_may_be_cut_out_of_a_list(self, data, model):
        import pandas as pd

        X, _ = data
        pairs = list(zip(X["first"].to_strings(), X["second"].to_strings(), strict=True))[:3]
        expected = str(model.explain(X[1:2]))
        frame = pd.DataFrame(pairs, columns=["first", "second"])
        for one in (pairs[1], list(pairs[1]), pairs[1:2], tuple(pairs[1:2]), np.array(pairs)[1:2], frame[1:2]):
            assert str(model.explain(one)) == expected
        for several in (pairs, [], frame, pairs * 2):
            with pytest.raises(DataError, match=rf"explain takes one pair, got {len(several)}"):
                model.explain(several)
        for wrong in ("(S a)", 3, X["first"][0]):
            with pytest.raises(DataError, match="expected two members"):
                model.explain(wrong)

    def test_heaviest_features_are_named(self, model):
        heaviest = model.heaviest(3)
        assert [weight for _, weight in heaviest] == sorted((w for _, w in heaviest), reverse=True)
        assert {name for name, _ in heaviest} <= set(model.features_.get_feature_names_out())

    def test_saved_models_answer_the_same(self, data, model, tmp_path):
        X, _ = data
        sw.save(model, tmp_path / "m.sap")
        restored = sw.load(tmp_path / "m.sap")
        np.testing.assert_array_equal(restored.predict_proba(X), model.predict_proba(X))
        assert str(restored.explain(X[:1])) == str(model.explain(X[:1]))
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
        with pytest.raises(NotFittedError):
            sw.save(PairClassifier(), tmp_path / "x.sap")

    @staticmethod
    def rewritten(model, path, change):
        """Save a model with another description, and the digest of that."""
        stored = Stored.of(model)
        change(stored.document["object"])
        path.write_bytes(stored.bytes())

    def test_files_with_the_first_name_of_a_group_are_read(self, data, model, tmp_path):
        def older(described):
            for params in (described["features"], described["fitted_features"]["params"]):
                params["groups"] = ["loosened" if group == "relaxed" else group for group in params["groups"]]
            learnt = described["fitted_features"]["learnt"]
            learnt["loosened_grammar_"] = learnt.pop("relaxed_grammar_")

        self.rewritten(model, tmp_path / "m.sap", older)
        again = sw.load(tmp_path / "m.sap")
        assert again.features.groups == model.features.groups
        np.testing.assert_array_equal(again.predict_proba(data[0]), model.predict_proba(data[0]))

    def test_damaged_models_are_refused(self, model, tmp_path):
        def broken(change):
            self.rewritten(model, tmp_path / "b.sap", change)
            with pytest.raises(ModelFileError):
                sw.load(tmp_path / "b.sap")

        broken(lambda o: o["model"]["classes"].pop())
        broken(lambda o: o["model"]["arrays"].update(coef_=o["model"]["arrays"]["means_"]))
        broken(lambda o: o["model"].pop("intercept"))
        broken(lambda o: o["fitted_features"]["params"].update(groups=["magic"]))
        broken(lambda o: o["fitted_features"]["learnt"].update(relaxed_grammar_=None))
        broken(lambda o: o["fitted_features"]["words"].pop())
        broken(lambda o: o.update(fitted_features={"class": "TreeArray"}))

    def test_searching_and_cross_validation(self, data):
        X, y = data
        search = GridSearchCV(PairClassifier(QUICK), {"C": [0.01, 1.0], "features__groups": [("lexical",)]}, cv=2)
        assert search.fit(X[:80], y[:80]).best_params_["C"] in (0.01, 1.0)
        assert cross_val_predict(PairClassifier(QUICK), X[:60], y[:60], cv=2, method="predict_proba").shape == (60, 2)
        assert repr(clone(PairClassifier(QUICK, C=2.0)).get_params()) == repr(PairClassifier(QUICK, C=2.0).get_params())

    @pytest.mark.slow
    @pytest.mark.parametrize("labels", [[0, 1], [True, False], [1.0, 2.0], ["a", "b"]])
    def test_any_two_labels(self, data, labels, tmp_path):
        X, y = data
        y = np.array(labels)[(y == "same").astype(int)]
        fitted = PairClassifier(PairFeatures(("lexical",)), class_weight="balanced").fit(X[:60], y[:60])
        sw.save(fitted, tmp_path / "m.sap")
        restored = sw.load(tmp_path / "m.sap")
        assert restored.classes_.dtype == fitted.classes_.dtype
        np.testing.assert_array_equal(restored.predict(X), fitted.predict(X))


class TestBadTraining:
    @pytest.mark.parametrize(
        ("labels", "message"),
        [
            (["same"] * 4, "only the class 'same'; a classifier needs at least two"),
            (["a", "b", "c", "a"], "two classes"),
            (["a", "b", "a"], "X has 4 examples but y has 3"),
            (None, "needs targets"),
            ([["a"], ["b"], ["a"], ["b"]], "one dimension"),
        ],
    )
    def test_bad_labels(self, data, labels, message):
        with pytest.raises(DataError, match=message):
            PairClassifier(QUICK).fit(data[0][:4], labels)

    def test_no_pairs(self):
        with pytest.raises(DataError, match="no examples"):
            PairClassifier(QUICK).fit([], [])

    def test_bad_parameters(self, data):
        X, y = data
        for params in ({"C": 0}, {"C": float("nan")}, {"knots": 0}, {"knots": 2.5}, {"features": "all"}):
            with pytest.raises(ParameterError):
                PairClassifier(**params).fit(X[:10], y[:10])
        with pytest.raises(DataError, match="explain takes one pair"):
            PairClassifier(PairFeatures(("lexical",))).fit(X[:50], y[:50]).explain(X[:2])

    def test_pairs_that_are_all_the_same_teach_nothing_but_do_no_harm(self):
        pair = ("(S (A a))", "(S (A a))")
        fitted = PairClassifier(QUICK).fit([pair] * 4, [0, 1, 0, 1])
        np.testing.assert_allclose(fitted.predict_proba([pair, ("", "")])[:, 1], 0.5)

    def test_empty_sentences_are_judged_too(self, model):
        P = model.predict_proba([("", ""), ("", "(S (NN dog))"), ("(S (NN dog))", "(S (NN dog))")])
        assert np.isfinite(P).all()


class TestAdditiveLogistic:
    def test_straight_lines_are_plain_logistic_regression(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(200, 3)) * [1.0, 10.0, 0.1]
        y = X[:, 0] + rng.normal(size=200) > 0
        ours = AdditiveLogistic(C=0.5, knots=1).fit(X, y)
        theirs = LogisticRegression(C=0.5, tol=1e-8).fit(StandardScaler().fit_transform(X), y)
        np.testing.assert_allclose(ours.coef_, theirs.coef_[0], rtol=1e-3)

    def test_contributions_add_up_and_constants_add_nothing(self):
        rng = np.random.default_rng(1)
        X = np.column_stack([rng.normal(size=100), np.full(100, 0.3)])
        model = AdditiveLogistic().fit(X, abs(X[:, 0]) > 0.7)
        added = model.contributions(X)
        np.testing.assert_allclose(added.sum(axis=1) + model.base_, model.decision_function(X))
        np.testing.assert_array_equal(added[:, 1], 0.0)
        np.testing.assert_allclose(added.mean(axis=0), 0.0, atol=1e-12)

    def test_a_path_of_penalties_ends_where_single_trainings_do(self):
        rng = np.random.default_rng(2)
        X = rng.normal(size=(150, 4))
        y = np.abs(X[:, 0]) + 0.5 * rng.normal(size=150) > 0.7
        for model in penalty_path(X, y, (0.01, 0.1, 1.0)):
            alone = AdditiveLogistic(C=model.C).fit(X, y)
            np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X), rtol=1e-3, atol=1e-3)

    def test_bad_matrices(self):
        with pytest.raises(DataError, match="row 1 has a feature that is NaN"):
            AdditiveLogistic().fit([[1.0], [np.nan]], [0, 1])
        with pytest.raises(DataError, match="two dimensions"):
            AdditiveLogistic().fit([1.0, 2.0], [0, 1])
        with pytest.raises(DataError, match="matrix of numbers"):
            AdditiveLogistic().fit([["a"], ["b"]], [0, 1])
        with pytest.raises(DataError, match="trained on 1"):
            AdditiveLogistic().fit([[1.0], [2.0]], [0, 1]).predict([[1.0, 2.0]])


class TestFiles:
    def test_pairs_are_read_as_they_are_written(self, data, tmp_path):
        X, y = data
        X = sw.Examples(
            first=[*X["first"][:5], (), (sw.Tree("NN", ["(x)"]), sw.Tree("NN", ["b"]))],
            second=[*X["second"][:5], "(NN dog)", ()],
        )
        corpora.tree_pairs.write(X, y[:7], tmp_path / "p.tsv.gz")
        pairs, labels = corpora.tree_pairs.read(tmp_path / "p.tsv.gz")
        assert labels.tolist() == y[:7].tolist()
        assert list(pairs["second"])[:6] == list(X["second"])[:6]
        assert list(pairs["first"])[5] == ()
        assert len(list(pairs["first"])[6]) == 2

    def test_texts_are_read_as_they_are_written(self, tmp_path):
        texts = {"Why  rain?\n": (sw.Tree("S", ["a"]), sw.Tree("S", ["b"])), "x": ()}
        corpora.parsed_texts.write(texts, tmp_path / "t.tsv")
        assert corpora.parsed_texts.read(tmp_path / "t.tsv") == {"Why rain?": texts["Why  rain?\n"], "x": ()}

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"", "empty"),
            (b"\n\n", "holds no pair"),
            (b"same\t(NN dog)\n", "p.tsv:1:1: expected label<TAB>trees<TAB>trees"),
            (b"same\t(NN a)\t(NN b)\nsame\t(NN a)\t(NN b)\textra\n", "p.tsv:2:1"),
            (b"\t(NN a)\t(NN b)\n", "label before the first tab is empty"),
            (b"same\t(NN a)\t(NN b\n", r"p.tsv:1:\d+"),
            (b"same\t(NN a)\tplain text\n", r"p.tsv:1:13"),
            (
                "same\t(NN caf\u00e9)\t(NN a)\n".encode() + "same\t(NN caf\u00e9)\t(NN a)\n".encode("latin-1"),
                "p.tsv:2:13: .*0xe9",
            ),
            (b"same\t(NN a\0)\t(NN b)\n", "NUL"),
        ],
    )
    def test_bad_files_say_where(self, content, message, tmp_path):
        (tmp_path / "p.tsv").write_bytes(content)
        with pytest.raises(ValueError, match=message):
            corpora.tree_pairs.read(tmp_path / "p.tsv")
        assert issubclass(FormatError, ValueError)

    def test_labels_that_cannot_be_written(self, tmp_path):
        pairs = sw.Examples(first=["(NN a)"], second=["(NN a)"])
        for label in ("", "a\tb", "a\nb"):
            with pytest.raises(DataError, match="label"):
                corpora.tree_pairs.write(pairs, [label], tmp_path / "p.tsv")


class TestCommands:
    def test_train_predict_evaluate(self, data, tmp_path, capsys):
        X, y = data
        train, test, model = (str(tmp_path / name) for name in ("train.tsv", "test.tsv", "m.sap"))
        corpora.tree_pairs.write(X[:100], y[:100], train)
        corpora.tree_pairs.write(X[100:], y[100:], test)
        assert main(["train", "pairs", train, "-o", model, "--groups", "lexical", "subset", "--threads", "1"]) == 0
        assert "100 pairs, 27 features" in capsys.readouterr().out
        assert main(["predict", model, test, "--margins"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) == 100
        assert lines[0].split("\t")[0] in ("same", "other")
        assert main(["evaluate", model, test, "--json", "-"]) == 0
        scores = json.loads(capsys.readouterr().out)
        restored = sw.load(model)
        assert scores["accuracy"] == pytest.approx(np.mean(restored.predict(X[100:]) == y[100:]))
        assert 0.5 < scores["auc"] <= 1
        assert main(["evaluate", model, test]) == 0
        assert "log-loss" in capsys.readouterr().out
        assert main(["predict", model, test, "--output", str(tmp_path / "out.txt")]) == 0
        assert (tmp_path / "out.txt").read_text().count("\n") == 100

    def test_bad_input_is_an_error_not_a_crash(self, data, tmp_path, capsys):
        X, y = data
        train, model = str(tmp_path / "train.tsv"), str(tmp_path / "m.sap")
        corpora.tree_pairs.write(X[:40], ["same"] * 40, train)
        assert main(["train", "pairs", train, "-o", model]) != 0
        assert "only the class 'same'" in capsys.readouterr().err
        assert main(["train", "pairs", train, "-o", model, "--groups", "magic"]) != 0
        assert "no group 'magic'" in capsys.readouterr().err
        corpora.tree_pairs.write(X[:40], y[:40], train)
        assert main(["train", "pairs", train, "-o", model, "--groups", "lexical"]) == 0
        corpora.tree_pairs.write(X[:2], ["same", "perhaps"], train)
        capsys.readouterr()
        assert main(["evaluate", model, train]) != 0
        assert "'perhaps' was not there in training" in capsys.readouterr().err
        corpora.tree_pairs.write(X[:2], ["same", "same"], train)
        assert main(["evaluate", model, train]) == 0
        assert "–" in capsys.readouterr().out


class TestText:
    """Pairs of text, with a parser."""

    def test_text_is_parsed_and_what_cannot_be_is_flagged(self, data, model):
        X, y = data
        parser = PCFGParser().fit(X["first"])
        reader = PairClassifier(
            model.features, parser=lambda words: None if "strange" in words else parser.parse(words)
        )
        reader.fit(X[:60], y[:60])
        texts = [(" ".join(X["first"][k].leaves()), " ".join(X["second"][k].leaves())) for k in range(60, 70)]
        texts += [("strange words", texts[0][0]), ("", texts[0][0]), (str(X["first"][0]), texts[0][0])]
        assert reader.unparsed(texts).tolist() == [False] * 10 + [True, False, False]
        with pytest.warns(UserWarning, match="no tree for 1 of 26 texts"):
            assert len(reader.predict(texts)) == 13
        with pytest.warns(UserWarning, match="24 of 26 texts are text, and there is no parser"):
            assert len(model.predict(texts)) == 13
        with pytest.raises(DataError, match=r"no tree for any of .*ZeroDivisionError"):
            PairClassifier(model.features, parser=lambda words: 1 / 0).fit(texts, [0, 1] * 6 + [0])
        with pytest.raises(ParameterError, match="parser must be"):
            PairClassifier(parser=3).fit(X[:60], y[:60])

    @pytest.mark.slow
    def test_commands_take_text_and_the_model_keeps_its_parser(self, data, tmp_path, capsys):
        X, y = data
        parser, train, model = (str(tmp_path / name) for name in ("parser.sap", "train.tsv", "pairs.sap"))
        sw.save(PCFGParser().fit(X["first"]), parser)
        rows = [f"{y[k]}\t{' '.join(X['first'][k].leaves())}\t{' '.join(X['second'][k].leaves())}\n" for k in range(80)]
        (tmp_path / "train.tsv").write_text("".join(rows))
        assert main(["train", "pairs", train, "-o", model, "--groups", "lexical", "subset", "--parser", parser]) == 0
        assert "80 pairs" in capsys.readouterr().out
        (tmp_path / "ask.tsv").write_text("".join(row.partition("\t")[2] for row in rows[:5]))
        assert main(["predict", model, str(tmp_path / "ask.tsv")]) == 0
        kept = capsys.readouterr().out
        assert main(["predict", model, str(tmp_path / "ask.tsv"), "--parser", parser]) == 0
        assert capsys.readouterr().out == kept
        assert len(kept.splitlines()) == 5
        assert main(["evaluate", model, train]) == 0
        assert "log-loss" in capsys.readouterr().out
        (tmp_path / "bad.tsv").write_text("same\tonly one text\n")
        assert main(["train", "pairs", str(tmp_path / "bad.tsv"), "-o", model, "--parser", parser]) == 1
        assert "expected label<TAB>text<TAB>text, but the line has 1 tabs" in capsys.readouterr().err


class TestExperiment:
    @pytest.fixture
    def setting(self, data, tmp_path, monkeypatch):
        """Both corpora, made of the nursery: texts, labels and trees; and less of everything that takes long."""
        monkeypatch.setattr(pairs_experiment, "_SAMPLES", 20)
        monkeypatch.setattr(pairs_experiment, "_STRENGTHS", (0.03, 0.1))
        monkeypatch.setattr(pairs_experiment, "_STEPS", pairs_experiment._STEPS[:3])
        X, y = data
        names = [[" ".join(tree.leaves()) for tree in X[view]] for view in ("first", "second")]
        rows = [(int(label == "same"), a, b) for label, a, b in zip(y, *names, strict=True)]
        for folder in ("quora", "msr-paraphrase", "cache"):
            (tmp_path / folder).mkdir()
        for part, chosen in (("train", rows[:50]), ("test", rows[50:80])):
            quora = "".join(f"{s}\t{a}\t{b}\n" for s, a, b in chosen)
            (tmp_path / "quora" / f"quora_{part}.tsv").write_text("is_duplicate\tquestion1\tquestion2\n" + quora)
            msr = "".join(f"{s}\t1\t2\t{a}\t{b}\n" for s, a, b in chosen)
            head = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"
            (tmp_path / "msr-paraphrase" / f"msr_paraphrase_{part}.txt").write_text(head + msr)
        trees = {
            name: (tree,)
            for view, texts in zip(("first", "second"), names, strict=True)
            for name, tree in zip(texts, X[view], strict=True)
        }
        trees.pop(names[0][0])
        for name in ("quora", "msr"):
            corpora.parsed_texts.write(trees, tmp_path / "cache" / f"trees-{name}.tsv.gz")
        return Setting(data=tmp_path, cache=tmp_path / "cache")

    @pytest.mark.slow
    def test_all_tables(self, setting):
        from dataclasses import replace
        from importlib.util import find_spec

        tables = list(run_experiment("pairs", replace(setting, tables=("quora", "msr-kernels", "timing"))))
        assert [table.name for table in tables] == ["quora", "msr-kernels", "timing"]
        ablation = tables[0]
        assert [row[0] for row in ablation.rows][:3] == ["shared words", "+ the post's ST and SST", "+ syntax"]
        assert ablation.rows[1][1] == ablation.rows[0][1] + 12
        assert all(0 < row[2] < 1 for row in ablation.rows)
        assert "49 of 50 train pairs have trees" in ablation.notes[0]
        names = [row[0] for row in tables[1].rows]
        assert names[2:] == (["both", "network on both"] if find_spec("torch") else ["both"])
        assert {row[1] for row in tables[2].rows} >= {"lexical", "relaxed", "all"}
        assert set(table.name for table in tables) <= set(EXPERIMENTS["pairs"].tables)

    @pytest.mark.slow
    def test_rows_in_context(self, setting, tmp_path, monkeypatch):
        from dataclasses import replace

        for package in ("onnxruntime", "onnx", "tokenizers"):
            pytest.importorskip(package)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "graphs"))
        monkeypatch.setenv("SAPWOOD_DATA", str(tmp_path))
        make_encoder(tmp_path / "minilm", "bert")
        monkeypatch.setattr(pairs_experiment, "_STEPS", pairs_experiment._STEPS[:1])
        (table,) = run_experiment("pairs", replace(setting, tables=("quora",)))
        rows = {row[0]: dict(zip(table.columns, row, strict=True)) for row in table.rows}
        assert list(rows)[:3] == ["shared words", "context alone", "words + context"]
        assert rows["everything"]["columns"] == PairFeatures(encoder="minilm").get_feature_names_out().size
        gain = "gain over words + context"
        assert {name for name, row in rows.items() if row[gain] == "–"} == set(list(rows)[:3])
        wide, narrow = rows["words + context + trees in context"], rows["words + context"]
        assert float(wide[gain].split()[0]) == pytest.approx(narrow["log-loss"] - wide["log-loss"], abs=6e-4)
        assert any("MiniLM, layer 3" in note for note in table.notes)

    def test_areas_of_resamples_are_those_of_scikit_learn(self):
        rng = np.random.default_rng(0)
        same = rng.random(80) < 0.4
        scores = rng.integers(0, 9, 80) / 9 + 0.3 * same  # many are equal
        resamples = rng.integers(80, size=(20, 80))
        expected = [roc_auc_score(same[chosen], scores[chosen]) for chosen in resamples]
        np.testing.assert_allclose(pairs_experiment._areas(same, scores, resamples), expected, rtol=1e-12)

    @pytest.mark.slow
    def test_a_parser_in_the_cache_makes_the_trees_that_are_missing(self, data, setting, tmp_path):
        only_parser = tmp_path / "only"
        only_parser.mkdir()
        sw.save(PCFGParser().fit(data[0]["first"]), only_parser / "parser.sap")
        wanted = Setting(data=setting.data, cache=only_parser, tables=("quora",))
        table = next(iter(run_experiment("pairs", wanted)))
        assert "ms of processor time per sentence" in table.notes[0]
        assert "50 of 50 train pairs have trees" in table.notes[1]
        (only_parser / "parser.sap").unlink()
        again = next(iter(run_experiment("pairs", wanted)))  # from what was kept
        assert [row[2] for row in again.rows] == [row[2] for row in table.rows]

    def test_missing_trees_and_data_are_said(self, setting, tmp_path):
        with pytest.raises(DataError, match="this experiment needs trees"):
            list(run_experiment("pairs", Setting(data=setting.data)))
        (tmp_path / "nothing").mkdir()
        corpora.parsed_texts.write({"x": ()}, tmp_path / "nothing" / "trees-quora.tsv")
        with pytest.raises(DataError, match="too few pairs"):
            list(run_experiment("pairs", Setting(data=setting.data, cache=tmp_path / "nothing")))


def test_values_that_only_rounding_tells_apart_are_one_to_a_curve() -> None:
    X = np.repeat([0.1, 0.4, 0.7, 0.9], 10)
    odd = np.arange(40) % 2 == 1
    model = AdditiveLogistic(C=100.0, knots=8).fit(np.where(odd, np.nextafter(X, 1.0), X)[:, None], odd)
    below, above = model.decision_function(X[:, None]), model.decision_function(np.nextafter(X, 1.0)[:, None])
    np.testing.assert_allclose(below, above, atol=1e-9)
