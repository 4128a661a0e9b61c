"""Versions side by side, words removed, files of data, links between words, and the Python of answers, in a browser."""

from __future__ import annotations

import re

import pytest
from sklearn.metrics import confusion_matrix

from explorer.pages import HOSTILE, analyze, changed, opened, settle, unharmed
from sapwood.explorer.comparing import FORMS
from sapwood.files import load
from sapwood.parse import tokenize

GIVING = "The farmer gave the hungry child a fresh apple"
QUESTIONS = [
    ("HUM:ind", "Who fed the cat in the garden ?"),
    ("LOC:other", "Where did the farmer buy the bread ?"),
    ("NUM:date", "When did Anna see the child ?"),
    ("NUM:date", "When did the painter feed the cat ?"),
    ("ENTY:animal", "Which animal did the painter feed ?"),
    ("HUM:ind", "Which animal did the young painter feed ?"),
    ("LOC:other", "Who sold the bread ?"),
]


def test_two_versions_stand_side_by_side_with_keys_alone(browser, served):
    page = opened(browser, served, "change")
    page.choose("#change-model", "roles")
    page.fill("#change-text", f"{GIVING} in the garden .")
    page.fill("#change-second", f"{GIVING} .")
    changed(page, "change", lambda: page.press("Enter", control=True))
    assert page.text("#change-status").startswith("1 difference")
    assert "AM-LOC" in page.text("#change-results table")
    sides = page.run("[...document.querySelectorAll('#change-results .side')].map(e => e.innerText)")
    assert "AM-LOC" in sides[0]
    assert "AM-LOC" not in sides[1]
    # Word by word: each can be removed by Enter or Space, and the second version follows.
    page.wait("document.querySelectorAll('.ablated').length === 13")
    page.run("document.querySelectorAll('.ablated')[2].focus()")
    assert page.run("document.activeElement.getAttribute('aria-label')").startswith("Remove gave: ")
    changed(page, "change", lambda: page.press("Enter"))
    assert page.run("document.querySelector('#change-second').value") == f"{GIVING} in the garden .".replace(
        "gave ", ""
    )
    # Another word in its place.
    page.run("document.querySelector('#change-word').value = '2'")
    page.fill("#change-by", "sold")
    changed(page, "change", lambda: page.press("Enter"))
    assert "farmer sold the hungry child" in page.run("document.querySelector('#change-second').value")
    assert "sell.01" in page.text("#change-results")
    # The same sentence under two models, and the address holds all of it.
    page.fill("#change-second", f"{GIVING} in the garden .")
    changed(page, "change", lambda: page.choose("#change-second-model", "frames"))
    assert "Giving" in page.text("#change-results .side:nth-last-child(2)")
    other = browser.open(page.run("location.href"))
    other.wait("document.documentElement.dataset.ready === 'yes'")
    settle(other, "change")
    assert "Giving" in other.text("#change-results .side:nth-last-child(2)")
    unharmed(page)


def test_a_word_that_turns_the_class_is_named(browser, served):
    page = opened(browser, served, "change")
    page.fill("#change-text", "When did Anna see the child ?")
    changed(page, "change", lambda: page.choose("#change-model", "questions"))
    page.wait("document.querySelectorAll('.ablated').length === 7")
    assert page.text(".ablated.flips").split() == ["When"]
    assert "Without “When” the class is another one" in page.text("#change-results")
    assert "margin of NUM:date" in page.text("#change-results")
    page.fill("#change-text", HOSTILE)
    changed(page, "change", lambda: page.click("#change-form button.primary"))
    unharmed(page)


def test_a_file_gives_predictions_errors_and_a_confusion_matrix(browser, served, folder, tmp_path):
    lines = [f"{label}\t{text}" for label, text in QUESTIONS]
    (tmp_path / "questions.tsv").write_text("\n".join(lines) + "\n")
    page = opened(browser, served, "data")
    node = page.call("DOM.querySelector", nodeId=page.call("DOM.getDocument")["root"]["nodeId"], selector="#data-file")
    page.run("document.querySelector('#data-results').replaceChildren()")
    page.call("DOM.setFileInputFiles", nodeId=node["nodeId"], files=[str(tmp_path / "questions.tsv")])
    page.wait(f"document.querySelector('#data-status').textContent.startsWith('{len(lines)} lines')")
    # The table against scikit-learn and the model itself.
    model, parser = load(folder / "questions.sap"), load(folder / "parser.sap")
    predicted = model.predict([parser.parse(tokenize(text)) for _, text in QUESTIONS]).tolist()
    expected = [label for label, _ in QUESTIONS]
    right = sum(one == other for one, other in zip(expected, predicted, strict=True))
    assert f"{right} of {len(lines)} right" in page.text("#data-status")
    labels = sorted({*expected, *predicted})
    matrix = confusion_matrix(expected, predicted, labels=labels).tolist()
    cells = page.run(
        "[...document.querySelectorAll('.confusion tbody tr')].map(r => [...r.querySelectorAll('td')]"
        ".map(c => Number(c.textContent.replace('·', '0'))))"
    )
    assert cells == matrix
    # By keys: sorted by margin, then the errors alone, then one line in the first panel.
    page.run("document.querySelector('[data-sort=score]').focus()")
    page.press("Enter")
    scores = page.run(
        "[...document.querySelectorAll('.lines tbody tr td:nth-child(4)')].map(e => Number(e.textContent))"
    )
    assert scores == sorted(scores)
    assert len(scores) == len(lines)
    page.run("document.querySelector('#data-errors').focus()")
    page.press(" ")
    assert page.run("document.querySelectorAll('.lines tbody tr').length") == len(lines) - right
    assert page.run("document.activeElement.id") == "data-errors"
    page.run("document.querySelector('.lines tbody button').focus()")
    wrong = page.run("document.activeElement.textContent")
    changed(page, "analyze", lambda: page.press("Enter"))
    assert page.run("document.querySelector('#analyze-text').value") == wrong
    assert page.run("document.querySelector('#analyze').hidden") is False
    assert "Fragments behind" in page.text("#analyze-results")
    # Back leads to the table, as it was.
    page.run("history.back()")
    page.wait("!document.querySelector('#data').hidden")
    assert page.run("document.querySelectorAll('.lines tbody tr').length") == len(lines) - right
    unharmed(page)


def test_pasted_lines_survive_reload_and_back_with_keys_alone(browser, served):
    page = opened(browser, served, "data")
    assert page.text("#data-status").startswith("6 lines")
    page.run("document.querySelector('#data-text').focus()")
    page.type("HUM:ind\tWho fed the cat ?\nNUM:date\tWhen did Anna see the child ?")
    page.press("Tab")
    while page.run("document.activeElement.innerText") != "Predict":
        page.press("Tab", shift=True)
    page.press("Enter")
    page.wait("document.querySelector('#data-status').textContent.startsWith('2 lines')")
    page.run("window.before = true")
    page.press("F5")
    page.wait("window.before === undefined")
    page.wait("document.querySelector('#data-status').textContent.startsWith('2 lines')")
    assert page.run("document.querySelector('#data-text').value").startswith("HUM:ind\tWho fed the cat ?")
    other = browser.open(page.run("location.href"))
    other.wait("document.querySelector('#data-status')?.textContent.startsWith('2 lines')")
    page.press("ArrowLeft", alt=True)
    page.wait("document.querySelector('#data-status').textContent.startsWith('6 lines')")
    page.press("ArrowRight", alt=True)
    page.wait("document.querySelector('#data-status').textContent.startsWith('2 lines')")
    unharmed(page)


def test_lines_of_a_file_stay_text(browser, served):
    page = opened(browser, served, "data")
    page.run("document.querySelector('#data-text').value = ''")
    page.fill("#data-text", f"{HOSTILE}\t{HOSTILE}\n(S (NP")
    changed(page, "data", lambda: page.click("#data-form button.primary"))
    page.wait("document.querySelector('#data-status').textContent.startsWith('2 lines')")
    assert "1 could not be read" in page.text("#data-status")
    unharmed(page)


def test_words_are_linked_and_parses_say_how_sure_they_are(browser, served):
    page = opened(browser, served, "compare")
    changed(page, "compare", lambda: page.choose("#compare-kernel", "SemanticSubsetTree"))
    said = page.run("[...document.querySelectorAll('.linked .link title')].map(e => e.textContent)")
    assert any(one.startswith("dog and hound: similarity ") for one in said)
    page.click("#tab-analyze")
    analyze(page, "Anna saw the child with the old scarf .", "parser")
    page.run("[...document.querySelectorAll('#analyze-results table.pick button')].at(-1).click()")
    assert page.run("document.querySelectorAll('#analyze-results .tree .unsure').length") > 0
    assert "The parser is not sure of" in page.text("#analyze-results")
    assert "trained on all trees of a synthetic toy corpus" in page.text("#analyze-card")
    unharmed(page)


def test_sentences_cards_roles_and_code_are_reached_with_keys_alone(browser, served):
    page = opened(browser, served)
    analyze(page, "The farmer fed the rabbit. Anna gave the child an apple.", "roles")
    page.run("document.querySelectorAll('#analyze-sentences button')[1].focus()")
    changed(page, "analyze", lambda: page.press("Enter"))
    assert "Anna" in page.text("#analyze-results .sentence")
    page.run("document.querySelector('#analyze-card summary').focus()")
    page.press("Enter")
    assert page.run("document.querySelector('#analyze-card details').open")
    page.run("document.querySelector('.sentence .span').focus()")
    page.press(" ")
    page.wait("/Why A\\d: /.test(document.querySelector('#analyze-results').innerText)")
    code = "document.querySelector('#analyze-results .python')"
    assert page.run(f"{code}.hidden")
    page.run("[...document.querySelectorAll('#analyze-results .saving button')].at(-1).focus()")
    page.press("Enter")
    assert not page.run(f"{code}.hidden")
    # From tab to tab, and a constraint is taken away.
    page.run("document.querySelector('#tab-analyze').focus()")
    page.press("End")
    settle(page, "decode")
    before = page.text("#decode-status").split(";")[0]
    page.run("document.querySelector('#decode-apart').focus()")
    changed(page, "decode", lambda: page.press(" "))
    assert page.text("#decode-status").split(";")[0] != before
    unharmed(page)


@pytest.mark.parametrize("kernel", [form.name for form in FORMS])
def test_the_python_of_a_comparison_gives_its_value(browser, served, folder, capsys, monkeypatch, kernel):
    page = opened(browser, served, "compare")
    changed(page, "compare", lambda: page.choose("#compare-kernel", kernel))
    code = page.run("document.querySelector('#compare-results .python').textContent")
    monkeypatch.chdir(folder)
    exec(code, {})
    value = float(re.search(r"\[\[(.*?)\]\]", capsys.readouterr().out)[1])
    table = page.run(
        "Object.fromEntries([...document.querySelectorAll('.kernels tbody tr')]"
        ".map(r => [r.querySelector('button').title, Number(r.querySelector('td.number').textContent)]))"
    )
    assert value == pytest.approx(table[kernel], abs=6e-4)


@pytest.mark.parametrize("model", ["questions", "trees", "roles", "frames", "parser", "reranker"])
def test_the_python_of_an_answer_runs(browser, served, folder, capsys, monkeypatch, model):
    page = opened(browser, served)
    analyze(page, "The farmer gave the child an apple .", model)
    code = page.run("document.querySelector('#analyze-results .python').textContent")
    monkeypatch.chdir(folder)
    exec(code, {})
    assert len(capsys.readouterr().out) > 20


@pytest.mark.parametrize("model", ["questions", "trees", "roles", "frames", "parser", "reranker"])
def test_the_python_of_a_file_of_data_answers_it(browser, served, folder, tmp_path, capsys, monkeypatch, model):
    page = opened(browser, served, "data")
    page.choose("#data-model", model)
    lines = ["The farmer gave the child an apple .", "Which animal did the painter feed ?"]
    page.run("document.querySelector('#data-text').value = ''")
    page.fill("#data-text", "\n".join(lines))
    changed(page, "data", lambda: page.click("#data-form button.primary"))
    page.wait("document.querySelector('#data-status').textContent.startsWith('2 lines')")
    code = page.run("document.querySelector('#data-results .python').textContent")
    (tmp_path / "lines.txt").write_text("\n".join(lines))
    monkeypatch.chdir(folder)
    exec(code.replace('"lines.txt"', repr(str(tmp_path / "lines.txt"))), {})
    answers = capsys.readouterr().out.splitlines()
    assert [one.rpartition("\t")[2] for one in answers if "\t" in one] == lines
    if model in ("questions", "trees"):
        rows = page.run("[...document.querySelectorAll('#data-results tbody tr')].map(r => r.innerText)")
        assert all(one.split("\t")[0] in row for one, row in zip(answers, rows, strict=True))
