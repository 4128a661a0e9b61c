"""``sapwood explain`` as a user meets it."""

from __future__ import annotations

import pytest

import sapwood as sw
import specimens
from sapwood.cli import main
from sapwood.errors import DataError
from sapwood.learn import KernelRanker, KernelSVC, RecursiveRanker
from sapwood.tasks.questions import QuestionClassifier
from sapwood.tasks.reranking import ParseReranker

LINES = [
    "ask\t(S (WH who) (V runs))",
    "tell\t(S (N he) (V runs))",
    "ask\t(S (WH what) (V ran))",
    "tell\t(S (N <b>&) (V ran))",
]


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.tsv"
    path.write_text("\n".join(LINES) + "\n")
    return path


@pytest.fixture
def model(data, tmp_path, capsys):
    path = tmp_path / "model.sap"
    assert main(["train", "trees", str(data), "-o", str(path)]) == 0
    capsys.readouterr()
    return path


@pytest.fixture
def tree_files(tmp_path):
    paths = []
    for name, tree in (("a", "(S (N <b>) (V runs))"), ("b", "(S (N she) (V runs))")):
        path = tmp_path / f"{name}.mrg"
        path.write_text(tree)
        paths.append(str(path))
    return paths


def test_decisions_as_text(model, data, capsys):
    assert main(["explain", str(model), str(data), "--count", "2", "--top", "3"]) == 0
    out = capsys.readouterr().out
    clf = sw.load(model)
    assert out.count("score of ") == 2
    assert f"score of ask {-clf.decision_function(['(S (WH who) (V runs))'])[0]:.6g}" in out
    assert "(WH who)" in out
    assert all(len(line) <= 80 for line in out.splitlines())


def test_another_class_and_the_model(model, data, capsys):
    assert main(["explain", str(model), str(data), "--label", "tell", "--count", "1"]) == 0
    assert "score of tell -" in capsys.readouterr().out
    assert main(["explain", str(model), "--model", "--top", "2"]) == 0
    out = capsys.readouterr().out
    assert "heaviest fragments of tell" in out
    assert len(out.splitlines()) == 3


def test_a_page(model, data, tmp_path, capsys):
    page = tmp_path / "why.html"
    assert main(["explain", str(model), str(data), "--count", "4", "--html", str(page)]) == 0
    assert capsys.readouterr().out == ""
    html = page.read_text()
    assert html.startswith("<!DOCTYPE html>")
    assert html.count('class="sapwood-tree"') == 4
    assert "&lt;b&gt;&amp;" in html
    assert "<b>" not in html


def test_kernel_values(tree_files, tmp_path, capsys):
    assert main(["explain", "--kernel", "SubsetTree(decay=0.5)", *tree_files]) == 0
    out = capsys.readouterr().out
    assert out.startswith("SubsetTree(decay=0.5) = 1.25")
    assert "(V runs)" in out
    page = tmp_path / "why.html"
    assert main(["explain", "--kernel", "SubsetTree(decay=0.5)", *tree_files, "--html", str(page)]) == 0
    assert "SubsetTree(decay=0.5) = 1.25" in page.read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["MODEL"], 2, "name a file of trees too"),
        (["MODEL", "DATA", "--label", "none"], 2, "there is no class 'none'; the classes are ask, tell"),
        (["MODEL", "missing.tsv"], 1, "missing.tsv: no such file"),
        (["missing.sap", "DATA"], 1, "missing.sap: no such file"),
        (["DATA", "DATA"], 1, "is not a Sapwood file"),
        (["--kernel", "Nonsense()", "DATA", "DATA"], 2, "there is no kernel called Nonsense"),
        (["--kernel", "Subtree()", "--model", "DATA", "DATA"], 2, "belong to a model"),
    ],
)
def test_what_cannot_be_explained(model, data, arguments, code, message, capsys):
    filled = [str(model) if a == "MODEL" else str(data) if a == "DATA" else a for a in arguments]
    assert main(["explain", *filled]) == code
    assert message in capsys.readouterr().err


KERNELS = [
    "SemanticSubsetTree(Table({('who', 'what'): 0.5})).normalized()",
    "SmoothedPartialTree(Table({('who', 'what'): 0.5})).normalized()",
    "PartialTree(terminal_factor=2.0)",
    "GrammarDriven().normalized()",
]


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels_that_match_by_likeness(kernel, data, tree_files, tmp_path, capsys):
    path = tmp_path / "likeness.sap"
    assert main(["train", "trees", str(data), "-o", str(path), "--kernel", kernel]) == 0
    assert main(["explain", str(path), str(data), "--model", "--count", "1", "--top", "3"]) == 0
    out = capsys.readouterr().out
    assert "heaviest fragments of tell" in out
    assert "times  heaviest fragments" in out
    assert "met its limit" not in out
    assert main(["explain", "--kernel", kernel, *tree_files]) == 0
    assert "(V runs)" in capsys.readouterr().out
    assert main(["explain", "--kernel", kernel, *tree_files, "--html", str(tmp_path / "why.html")]) == 0
    assert "<b>" not in (tmp_path / "why.html").read_text()


@pytest.fixture
def parser(tmp_path):
    path = tmp_path / "parser.sap"
    sw.save(sw.parse.FlatParser(), path)
    return path


def run(capsys, *arguments):
    assert main(["explain", *map(str, arguments)]) == 0
    out = capsys.readouterr().out
    assert all(len(line) <= 80 for line in out.splitlines())
    return out


def test_text_with_a_parser(data, parser, tmp_path, capsys):
    """Text is parsed by the parser of --parser, or by that of the model."""
    texts, questions, model = tmp_path / "t.txt", tmp_path / "q.txt", tmp_path / "m.sap"
    texts.write_text("who runs\nhe ran\n")
    trees = sw.parse.FlatParser().transform(["who runs", "he runs", "what ran", "she ran"])
    labels = ["ask", "tell", "ask", "tell"]
    sw.save(KernelSVC().fit(trees, labels), model)
    assert run(capsys, model, texts, "--parser", parser).count("score of ") == 2
    assert run(capsys, model, "she runs fast", "--parser", parser).count("score of ") == 1
    questions.write_text("\nWho ran ?\nHUM:ind Who fell ?\n")
    asked = ["Who ran ?", "Who is he ?", "Where is it ?", "Where was he ?"]
    kernel = sw.kernels.parse_kernel("SubsetTree().normalized().on('focus') + Linear().on('words')")
    classifier = QuestionClassifier(kernel, parser=sw.parse.FlatParser()).fit(asked, ["HUM", "HUM", "LOC", "LOC"])
    sw.save(classifier, model)
    out = run(capsys, model, questions, "--label", "LOC")
    assert out.count("score of LOC") == 2
    assert "by feature:" in out
    assert "who" in out.split("by feature:")[1].lower()


@pytest.mark.slow
def test_pairs_roles_and_parses(tmp_path, capsys):
    corpus = specimens.corpus()
    model, source = tmp_path / "m.sap", tmp_path / "data.tsv"
    pairs, _ = specimens.tree_pairs(16)
    sw.save(specimens.ESTIMATORS["PairClassifier"].fitted(), model)
    source.write_text(f"{pairs['first'][0]}\t{pairs['second'][0]}\n")
    assert "log-odds" in run(capsys, model, source)
    sw.save(specimens.ESTIMATORS["RoleLabeler"].fitted(), model)
    treebank = tmp_path / "trees.mrg"
    treebank.write_text("\n".join(str(one.tree) for one in specimens.role_sentences()[:4]))
    out = run(capsys, model, treebank, "--count", "2")
    assert out.count("score of ") == 2
    page = tmp_path / "why.html"
    assert main(["explain", str(model), str(treebank), "--html", str(page)]) == 0
    assert "<h2>" in page.read_text()
    lists = [corpus.forest(number) for number in range(5)]
    ranker = KernelRanker(sw.kernels.parse_kernel("SubsetTree().on('tree') + Linear().on('prior')"), random_state=0)
    reranker = ParseReranker(ranker).fit(lists)
    sw.save(reranker, model)
    sw.corpora.nbest.write(lists, source)
    out = run(capsys, model, source, "--count", "1")
    assert f"score of parse {reranker.predict(lists)[0]}" in out
    assert reranker.explain(lists[1], parse=1).value == pytest.approx(reranker.decision_function(lists)[1][1])
    with pytest.raises(DataError, match="parse must be below"):
        reranker.explain(lists[1], parse=10_000)
    sw.save(ParseReranker(RecursiveRanker(units=2, epochs=1, random_state=0)).fit(lists), model)
    assert main(["explain", str(model), str(source)]) == 2
    assert "does not say why" in capsys.readouterr().err
