"""Frame arguments: spans and heads worked out by hand, the learner on the nursery, files, commands and bad input."""

from __future__ import annotations

import io
import json
from copy import copy
from dataclasses import replace

import numpy as np
import pytest

import sapwood as sw
from sapwood import corpora
from sapwood.cli import main
from sapwood.corpora import nursery
from sapwood.corpora.framenet.fulltext import Filler, FrameTarget
from sapwood.corpora.framenet.lexicon import Frame, FrameElement, Lexicon
from sapwood.decode import decode_roles_batch
from sapwood.errors import DataError, FormatError, ModelFileError, ParameterError
from sapwood.parse import PCFGParser
from sapwood.tasks.frames import (
    FrameIdentifier,
    FrameInput,
    FrameLabeler,
    FrameParser,
    ParsedSentence,
    evaluate_arguments,
    iter_records,
    load_framenet,
    nursery_frames,
    write_records,
)
from sapwood.tasks.frames.evaluation import gold_violations
from sapwood.tasks.frames.instances import candidate_sets, instances_of, right_choices, target_tokens
from sapwood.tasks.frames.rows import Rows, TargetInstance
from sapwood.tasks.frames.spans import candidate_spans, dependency_spans, extended_spans
from sapwood.tasks.frames.templates import GROUPS, collect

SENTENCE = (
    "(S (NP (DT The) (JJ old) (NN farmer)) (VP (VBD was) (VP (VBN seen) (PP (IN by) (NP (NNP Kim))) "
    "(PP (IN in) (NP (DT the) (NN park))))) (. .))"
)


@pytest.fixture(scope="module")
def sentence():
    return ParsedSentence.from_tree(sw.Tree.fromstring(SENTENCE))


@pytest.fixture(scope="module")
def garden():
    return nursery.generate(size=600)


@pytest.fixture(scope="module")
def frames(garden):
    lexicon, data = nursery_frames(garden)
    return lexicon, data[:300], data[300:400]


@pytest.fixture(scope="module")
def parser(frames):
    lexicon, train, _ = frames
    return FrameParser(labeler=FrameLabeler(bits=18, epochs=3, alpha=0.3)).fit(train, lexicon=lexicon)


def test_a_passive_sentence_is_understood(sentence):
    words = sentence.words
    assert [words[head] if head >= 0 else "" for head in sentence.heads] == [
        "farmer", "farmer", "was", "", "was", "seen", "by", "seen", "park", "in", "was",
    ]  # fmt: skip
    assert sentence.voices[4] == "PAS"
    assert sentence.voices[3] == "ACT"
    assert words[sentence.head_of(5, 6)] == "by"
    assert words[sentence.head_of(0, 2)] == "farmer"
    assert sentence.tokens_in(0, 13) == (0, 2)
    assert sentence.tokens_in(1, 13) is None
    assert sentence.tokens_touching(5, 9) == [1, 2]


def test_dependency_spans_follow_the_heuristic(sentence):
    found = dependency_spans(sentence)
    assert {(token, token) for token in range(11)} <= found
    assert {(0, 2), (0, 10), (5, 6), (7, 9), (8, 9), (4, 9)} <= found
    # The auxiliary has dependents on both sides and what stands before it is a candidate.
    assert (3, 10) in found
    assert (1, 2) not in found


def test_extended_spans_have_constituents_and_parts_around_the_target(sentence):
    found = extended_spans(sentence, (4,))
    assert {(0, 2), (5, 6), (7, 9), (5, 9), (0, 3), (4, 9)} <= found
    # Punctuation never stands at an edge.
    assert all(10 not in span for span in found)
    ordered = candidate_spans(sentence, (4,), "extended")
    assert set(ordered) == found
    assert len(ordered) == len(found)
    with pytest.raises(ParameterError, match="spans must be one of"):
        candidate_spans(sentence, (4,), "all")


def test_spans_from_conllu_need_no_tree():
    text = "1 Rain rain NOUN NN _ 2 nsubj _ _\n2 fell fall VERB VBD _ 0 root _ _\n3 hard hard ADV RB _ 2 advmod _ _\n\n"
    one = ParsedSentence.from_conllu(next(corpora.conllu.read(io.StringIO(text.replace(" ", "\t")))))
    assert one.lemmas == ("rain", "fall", "hard")
    assert one.constituents is None
    assert {(0, 0), (2, 2), (0, 2), (0, 1)} <= extended_spans(one, (1,))
    features, ends = collect(Rows([TargetInstance(one, (1,), "Motion", (((0, 0),), ((2, 2),)))]), "extended")
    assert ends.shape == (3, GROUPS)
    assert len(features) == ends[-1, -1]


def test_sentences_without_a_parse_get_a_flat_one():
    one = ParsedSentence.from_tags(["He", "(", "left", ")", "."], ["PP", "(", "VVD", ")", "sent"])
    assert one.tags == ("PRP", "-LRB-", "VBD", "-RRB-", ".")
    assert one.words == ("He", "(", "left", ")", ".")
    assert (0, 0) in candidate_spans(one, (2,))


def test_circular_dependencies_are_refused(sentence):
    with pytest.raises(DataError, match="circle"):
        replace(sentence, heads=(1, 0, *sentence.heads[2:])).bottom_up  # noqa: B018


@pytest.mark.slow
@pytest.mark.parametrize("templates", ["semafor", "extended"])
def test_features_do_not_depend_on_what_else_is_in_the_batch(frames, templates):
    lexicon, train, _ = frames
    instances = instances_of(train[:40])
    whole = candidate_sets(instances, lexicon, templates=templates)
    parts = [candidate_sets([one], lexicon, templates=templates) for one in instances]
    np.testing.assert_array_equal(whole.features, np.concatenate([part.features for part in parts]))
    np.testing.assert_array_equal(whole.keys, np.concatenate([part.keys for part in parts]))


def test_features_tell_spans_apart(sentence):
    rows = Rows([TargetInstance(sentence, (4,), "Perceiving", (((0, 2),), ((5, 6),), ((7, 9),)))])
    features, ends = collect(rows, "extended")
    starts = np.concatenate([[0], ends[:, -1]]).astype(int)
    sets = [set(features[starts[at] : starts[at + 1]].tolist()) for at in range(4)]
    assert len({frozenset(each) for each in sets}) == 4
    assert all(len(each) > 50 for each in sets[:3])
    # Nothing that an overt span has is shared with leaving the role unfilled.
    assert not sets[3] & (sets[0] | sets[1] | sets[2])


def test_gold_choices_point_at_gold_spans(frames):
    lexicon, train, _ = frames
    instances = instances_of(train, gold=True)
    choices = iter(right_choices(train, instances, lexicon).tolist())
    for one, instance in zip(train, instances, strict=True):
        (target,) = one.targets
        filled = {filler.role: one.parse.tokens_in(filler.start, filler.end) for filler in target.fillers}
        for element in lexicon[target.frame].elements:
            number = next(choices)
            chosen = instance.candidates[number][0] if number < len(instance.candidates) else None
            assert chosen == filled.get(element.name)


@pytest.mark.slow
def test_the_nursery_keeps_its_own_constraints(garden):
    lexicon, data = nursery_frames(garden)
    assert gold_violations(data, lexicon) == {"overlap": 0, "requires": 0, "excludes": 0, "repeated": 0}


@pytest.mark.slow
def test_training_learns_and_exact_decoding_obeys(frames, parser):
    lexicon, _, test = frames
    labeler = parser.labeler_
    labelled = parser.predict(test)
    exact = evaluate_arguments(test, labelled, lexicon)
    local = evaluate_arguments(test, labeler.predict(test, method="local"), lexicon)
    assert exact.f1 > 0.85
    assert exact.f1 >= local.f1
    for one, labeled in zip(test, labelled, strict=True):
        (answer,) = labeled.frames
        frame = lexicon[answer.frame]
        overt = {frame.index[filler.role] for filler in answer.fillers}
        assert not any(a in overt and b in overt for a, b in frame.excludes)
        assert all((a in overt) == (b in overt) for a, b in frame.requires)
        tokens = [token for filler in answer.fillers for token in range(filler.first, filler.last + 1)]
        assert len(tokens) == len(set(tokens))
        for filler in answer.fillers:
            assert (filler.start, filler.end) == (
                one.parse.offsets[filler.first][0],
                one.parse.offsets[filler.last][1],
            )


@pytest.mark.slow
def test_a_lower_offset_fills_more_roles(frames, parser):
    _, _, test = frames
    labeler = parser.labeler_
    counts = []
    for offset in (-3.0, 0.0, 3.0):
        labeler.null_offset = offset
        counts.append(sum(len(answer.fillers) for one in labeler.predict(test) for answer in one.frames))
    labeler.null_offset = 0.0
    assert counts[0] > counts[1] > counts[2]


@pytest.mark.slow
def test_a_threshold_asks_for_the_best_expected_number_of_right_fillers(frames, parser):
    lexicon, _, test = frames
    labeler = copy(parser.labeler_)
    scored = labeler.score_candidates(test)
    likeliest = decode_roles_batch(scored.problems(lexicon))

    def expected(problems, results, threshold):
        total = 0.0
        for table, result in zip(scored.tables, results, strict=True):
            shares = np.exp(table - table.max(axis=1, keepdims=True))
            shares /= shares.sum(axis=1, keepdims=True)
            for share, chosen in zip(shares, result.assignment.tolist(), strict=True):
                total += share[chosen] - threshold if chosen < len(share) - 1 else 0.0
        return total

    counts = []
    for threshold in (0.05, 0.4, 0.8, 1.0):
        problems = scored.problems(lexicon, threshold=threshold)
        found = decode_roles_batch(problems)
        assert expected(problems, found, threshold) >= expected(problems, likeliest, threshold) - 1e-9
        assert all(not any(result.violations.values()) for result in found)
        labeler.threshold = threshold
        fillers = [filler for one in labeler.predict(test) for target in one.frames for filler in target.fillers]
        counts.append(len(fillers))
        local = [
            one for each in labeler.predict(test, method="local") for target in each.frames for one in target.fillers
        ]
        assert all(0 < one.margin <= 1 - threshold for one in local)
    assert counts[0] > counts[1] > counts[2] > counts[3] == 0


@pytest.mark.parametrize("threshold", [-0.1, 1.5, float("nan"), "half", True])
def test_a_threshold_is_a_probability(frames, threshold):
    lexicon, train, _ = frames
    with pytest.raises(ParameterError, match="threshold must be a number in"):
        FrameLabeler(threshold=threshold).fit(train[:2], lexicon=lexicon)


def test_the_same_seed_gives_the_same_model_for_any_number_of_threads(frames):
    lexicon, train, _ = frames
    made = []
    for threads in (1, 2):
        with sw.options(threads=threads):
            labeler = FrameLabeler(bits=16, epochs=1).fit(train[:60], lexicon=lexicon)
        made.append(labeler.model_.weights_)
    np.testing.assert_array_equal(*made)


@pytest.mark.slow
def test_targets_are_taken_as_given_or_found(frames, parser):
    _, _, test = frames
    given = FrameInput(test[0].parse, test[0].targets, "s1")
    found = parser.predict([given, FrameInput(test[0].parse, name="s1", find=True), test[0].parse])
    assert [one.name for one in found] == ["s1", "s1", ""]
    assert found[0].frames[0].frame == test[0].targets[0].frame
    assert found[1].frames == found[2].frames == parser.parse(test[0].parse).frames
    assert parser.predict([FrameInput(test[0].parse)])[0].frames == ()
    assert list(parser.parse_sentences(one.parse for one in test)) == parser.predict([one.parse for one in test])
    with pytest.raises(DataError, match="s1: the targets are not given; a FrameParser finds them"):
        parser.labeler_.predict([FrameInput(test[0].parse, name="s1", find=True)])


def test_the_score_of_a_labeler_is_f1_of_annotated_targets(frames, parser):
    lexicon, _, test = frames
    labeler = parser.labeler_
    assert labeler.score(test) == evaluate_arguments(test, labeler.predict(test), lexicon).f1
    hidden = [replace(one, targets=tuple(replace(each, annotated=False) for each in one.targets)) for one in test[:50]]
    assert labeler.score([*hidden, *test[50:]]) == labeler.score(test[50:])
    scored = labeler.score_candidates(test)
    assert [len(table) for table in scored.tables] == [len(lexicon[one.targets[0].frame].elements) for one in test]


def test_parsers_come_back_with_their_parameters(parser, tmp_path):
    sw.save(parser, tmp_path / "frames.sap")
    again = sw.load(tmp_path / "frames.sap")
    assert repr(again.get_params()) == repr(parser.get_params())
    assert again.identifier is None
    assert again.labeler is not again.labeler_


def test_frames_are_found_from_nothing(frames, parser):
    _, _, test = frames
    found = parser.predict([one.parse for one in test])
    right = sum(
        [each.frame for each in answer.frames] == [one.targets[0].frame]
        for one, answer in zip(test, found, strict=True)
    )
    assert right > 0.8 * len(test)
    chosen = parser.identifier_.choose(test)
    assert np.mean([names[0] == one.targets[0].frame for names, one in zip(chosen, test, strict=True)]) > 0.85
    assert list(parser.parse_sentences([])) == []


@pytest.mark.slow
def test_models_are_saved_and_asked_from_the_command_line(frames, parser, garden, tmp_path, capsys):
    _, _, test = frames
    path, data = tmp_path / "frames.sap", tmp_path / "test.jsonl"
    sw.save(parser, path)
    trees = [sentence.tree for sentence in garden.sentences[300:400]]
    write_records(zip(trees, test, strict=True), data)
    assert main(["evaluate", str(path), str(data), "--json", "-"]) == 0
    scores = json.loads(capsys.readouterr().out)
    expected = evaluate_arguments(test, parser.predict(test), parser.labeler_.lexicon_)
    assert scores["all targets"]["f1"] == pytest.approx(expected.f1)
    assert main(["predict", str(path), str(data), "--margins"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["frames"][0]["frame"] for row in rows] == [one.targets[0].frame for one in test]
    answers = parser.predict(test)
    for row, labeled in zip(rows, answers, strict=True):
        (answer,) = labeled.frames
        assert [role["tokens"] for role in row["frames"][0]["roles"]] == [[f.first, f.last] for f in answer.fillers]
        assert [role["margin"] for role in row["frames"][0]["roles"]] == pytest.approx(
            [filler.margin for filler in answer.fillers], abs=1e-3
        )
    plain = tmp_path / "trees.mrg"
    plain.write_text("".join(f"{tree}\n" for tree in trees[:5]))
    assert main(["predict", str(path), str(plain), "--output", str(tmp_path / "out.jsonl")]) == 0
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 5
    assert main(["predict", str(path), str(data), "--format", "brackets"]) == 0
    drawn = capsys.readouterr().out.splitlines()
    assert len(drawn) >= 1
    assert all(": " in line and "*" in line for line in drawn)
    assert main(["predict", str(path), str(data), "--format", "html"]) == 0
    page = capsys.readouterr().out
    # One picture per sentence, with a row for each of its frames.
    assert page.count("<svg") == len(rows)
    assert all(f">{frame['frame']}<" in page for row in rows for frame in row["frames"])
    assert main(["predict", str(path), str(data), "--format", "props"]) == 2
    assert "jsonl, text, brackets, html" in capsys.readouterr().err
    assert main(["evaluate", str(path), str(plain)]) == 1
    assert "no target to score" in capsys.readouterr().err


def test_a_labeller_alone_needs_targets(parser, tmp_path, capsys):
    path, plain = tmp_path / "labeler.sap", tmp_path / "trees.mrg"
    sw.save(parser.labeler_, path)
    plain.write_text(f"{SENTENCE}\n")
    assert main(["predict", str(path), str(plain)]) == 1
    assert "line 1 gives no targets" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "broken JSON"),
        ('{"text": "x"}', 'object with a "tree"'),
        ('{"tree": "(NP (NN dog)"}', "bracket"),
        ('{"tree": "(NP dog cat)"}', "part of speech"),
        ('{"tree": "(NN dog)", "offsets": [[0, 1], [2, 3]]}', "1 words, and there are 2 offsets"),
        ('{"tree": "(NN dog)", "targets": [{"frame": "X", "spans": [[2, 9]]}]}', "outside the sentence"),
        ('{"tree": "(NN dog)", "targets": [{"frame": "X", "spans": [[2, 1]]}]}', "outside the sentence"),
        ('{"tree": "(NN dog)", "targets": [{"frame": "X", "spans": []}]}', "has no span"),
        ('{"tree": "(NN dog)", "targets": [{"spans": [[0, 1]]}]}', "expected"),
        ('{"tree": "(NN dog)", "targets": 5}', "expected"),
        ("", "blank line|is empty"),
    ],
)
def test_broken_records_say_where(line, message):
    with pytest.raises((FormatError, DataError, sw.BracketError), match=message):
        list(iter_records(io.StringIO(f"{line}\n")))


def test_overlapping_and_repeated_gold_is_learnt_from_and_counted(sentence):
    frame = Frame("F", (FrameElement("A", excludes=("B",)), FrameElement("B"), FrameElement("C", requires=("B",))))
    lexicon = Lexicon.of([frame])
    fillers = (Filler("A", 0, 13), Filler("B", 4, 13), Filler("A", 24, 29), Filler("D", 0, 2), Filler("A", 1, 3))
    data = [FrameInput(sentence, (FrameTarget("F", ((19, 22),), fillers),))]
    assert gold_violations(data, lexicon) == {
        "overlap": 4.0,
        "requires": 1.0,
        "excludes": 1.0,
        "repeated": pytest.approx(1 / 3),
    }
    labeler = FrameLabeler(bits=12, epochs=2).fit(data, lexicon=lexicon)
    (answer,) = labeler.predict(data)[0].frames
    assert answer.status == "optimal"


def test_what_cannot_be_labelled_says_why(sentence, parser, frames):
    lexicon, train, _ = frames
    with pytest.raises(DataError, match="'Nothing' is not in the lexicon"):
        parser.predict([FrameInput(sentence, (FrameTarget("Nothing", ((0, 2),)),), "s1")])
    outside = FrameInput(sentence, (FrameTarget("Giving", ((400, 402),)),), "s1")
    with pytest.raises(DataError, match="s1: the target of 'Giving' from character 400"):
        target_tokens(outside, outside.targets[0])
    with pytest.raises(DataError, match="nothing to learn from"):
        FrameLabeler().fit([], lexicon=lexicon)
    with pytest.raises(DataError, match="nothing to learn from"):
        FrameLabeler().fit(
            [FrameInput(sentence, (FrameTarget("Giving", ((0, 2),), annotated=False),))], lexicon=lexicon
        )
    with pytest.raises(ParameterError, match="templates must be one of"):
        FrameLabeler(templates="all").fit(train, lexicon=lexicon)
    with pytest.raises(DataError, match="predictions for 0 sentences"):
        evaluate_arguments(train, [], lexicon)
    assert parser.predict([]) == []
    assert parser.predict([FrameInput(sentence, ())])[0].frames == ()


@pytest.mark.parametrize("model", [FrameParser, FrameLabeler, FrameIdentifier])
def test_what_is_no_annotated_sentence_is_named(model, frames, sentence):
    lexicon, train, _ = frames
    for wrong, number, kind in (
        (["(S a)"], 0, "str"),
        ([train[0], sentence], 1, "ParsedSentence"),
        ([None], 0, "None"),
    ):
        with pytest.raises(
            DataError, match=rf"element {number} is a {kind}\w*; expected a FrameInput, .* load_framenet"
        ):
            model().fit(wrong, lexicon=lexicon)
    for wrong in ("(S a)", train[0], 3):
        with pytest.raises(DataError, match=f"expected a list of FrameInput, got one {type(wrong).__name__}"):
            model().fit(wrong, lexicon=lexicon)
    with pytest.raises(DataError, match="lexicon must be a Lexicon, got dict"):
        model().fit(train, lexicon={})


def test_a_frame_without_roles_gets_no_arguments(sentence):
    lexicon = Lexicon.of([Frame("Bare", ()), Frame("F", (FrameElement("A"),))])
    known = FrameInput(sentence, (FrameTarget("F", ((19, 22),), (Filler("A", 0, 13),)),))
    labeler = FrameLabeler(bits=12, epochs=2).fit([known], lexicon=lexicon)
    (answer,) = labeler.predict([FrameInput(sentence, (FrameTarget("Bare", ((19, 22),)),))])[0].frames
    assert answer.fillers == ()


def test_damaged_files_are_noticed(parser, tmp_path):
    path = tmp_path / "frames.sap"
    sw.save(parser, path)
    data = path.read_bytes()
    (tmp_path / "cut.sap").write_bytes(data[: len(data) // 2])
    with pytest.raises(ModelFileError, match="truncated"):
        sw.load(tmp_path / "cut.sap")
    (tmp_path / "odd.sap").write_bytes(data.replace(b'\\"spans\\": \\"extended\\"', b'\\"spans\\": \\"nonsense\\"'))
    with pytest.raises(ModelFileError, match="damaged"):
        sw.load(tmp_path / "odd.sap")


def test_a_release_is_joined_with_its_parses(tmp_path):
    text = """<fullTextAnnotation><sentence ID="{0}"><text>Rain fell</text>
    <annotationSet><layer rank="1" name="PENN"><label start="0" end="3" name="nn"/><label start="5" end="8" name="VVD"/>
    </layer></annotationSet><annotationSet frameName="{1}" status="MANUAL"><layer rank="1" name="Target">
    <label start="5" end="8" name="Target"/></layer><layer rank="1" name="FE"><label start="0" end="3" name="Theme"/>
    </layer></annotationSet></sentence></fullTextAnnotation>"""
    for name in ("frame", "fulltext"):
        (tmp_path / name).mkdir()
    (tmp_path / "frame" / "Motion.xml").write_text('<frame name="Motion"><FE coreType="Core" name="Theme"/></frame>')
    for number, (name, frame) in enumerate([("a", "Motion"), ("b", "Motion"), ("c", "Motion"), ("d", "Odd")]):
        (tmp_path / "fulltext" / f"{name}.xml").write_text(text.format(number, frame))
    (tmp_path / "splits.json").write_text('{"dev": ["b"], "test": ["c"]}')
    line = '{"doc": "a", "sent_id": "0", "offsets": [[0, 3], [5, 8]], "tree": "(S (NP (NN Rain)) (VP (VBD fell)))"}'
    (tmp_path / "parses.jsonl").write_text(line)
    corpus = load_framenet(tmp_path, tmp_path / "parses.jsonl", tmp_path / "splits.json")
    assert [len(part) for part in (corpus.train, corpus.dev, corpus.test)] == [1, 1, 1]
    assert corpus.missing == {"test": 0, "dev": 0, "train": 1}
    assert corpus.unparsed == {"test": 1, "dev": 1, "train": 0}
    assert corpus.test[0].targets[0].fillers == (Filler("Theme", 0, 3),)
    labeler = FrameLabeler(bits=12).fit(corpus.train, lexicon=corpus.lexicon)
    assert evaluate_arguments(corpus.test, labeler.predict(corpus.test), corpus.lexicon).gold == 1.0
    # A parser in place of a file parses FrameNet's own tokens.
    parser = PCFGParser().fit([sw.Tree.fromstring("(S (NP (NN Rain)) (VP (VBD fell)))")] * 3)
    parsed = load_framenet(tmp_path, parser, tmp_path / "splits.json")
    assert parsed.unparsed == {"test": 0, "dev": 0, "train": 0}
    assert parsed.train[0].parse.heads == corpus.train[0].parse.heads
    assert parsed.test[0].parse.tags == ("NN", "VBD")
