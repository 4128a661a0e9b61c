"""Fillers in several pieces and in the sentences before: candidates by hand, decoding, scores, files and bad input."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import sapwood as sw
from sapwood.cli import main
from sapwood.corpora.framenet.fulltext import Filler, FrameTarget
from sapwood.corpora.framenet.lexicon import Frame, FrameElement, Lexicon
from sapwood.errors import DataError, ParameterError
from sapwood.tasks.frames import (
    FrameInput,
    FrameLabeler,
    FrameParser,
    ParsedSentence,
    evaluate_arguments,
    load_framenet,
)
from sapwood.tasks.frames.hashing import code
from sapwood.tasks.frames.instances import instances_of, right_choices
from sapwood.tasks.frames.pieces import candidate_pieces
from sapwood.tasks.frames.rows import Rows, TargetInstance
from sapwood.tasks.frames.templates import GROUPS, collect
from sapwood.tasks.frames.views import SpanView

NAMES = ("Anna", "Ben", "Kim", "Lee", "Max", "Sam", "Tim", "Uma")
LEXICON = Lexicon.of(
    [
        Frame("Likelihood", (FrameElement("Event"), FrameElement("Degree", "Peripheral"))),
        Frame("Motion", (FrameElement("Theme"), FrameElement("Path"))),
    ]
)


def parsed(text: str) -> ParsedSentence:
    return ParsedSentence.from_tree(sw.Tree.fromstring(text))


def words_of(sentence: ParsedSentence, target: tuple[int, ...]) -> set[tuple[str, ...]]:
    return {
        tuple(" ".join(sentence.words[first : last + 1]) for first, last in pieces)
        for pieces in candidate_pieces(sentence, target)
    }


def probably(name: str, verb: str = "sleep") -> FrameInput:
    """Return "NAME will probably VERB", in which NAME and VERB are the event together."""
    parse = parsed(f"(S (NP (NNP {name})) (VP (MD will) (ADVP (RB probably)) (VP (VB {verb}))) (. .))")
    places = parse.offsets
    event = (Filler("Event", places[0][0], places[0][1]), Filler("Event", places[3][0], places[3][1]))
    return FrameInput(parse, (FrameTarget("Likelihood", (places[2],), event),))


@pytest.fixture(scope="module")
def labeler():
    train = [probably(name, verb) for name in NAMES[:6] for verb in ("sleep", "run", "sing")]
    return FrameLabeler(pieces=True, bits=14, alpha=0.1, epochs=8).fit(train, lexicon=LEXICON)


def test_relative_clauses_give_antecedents_with_their_pronouns():
    sentence = parsed(
        "(S (NP (NP (NP (DT a) (NN plant)) (PP (IN at) (NP (NNP Rome)))) (, ,) (SBAR (WHNP (WDT which)) "
        "(S (NP (PRP they)) (VP (VBD sold))))) (VP (VBD burned)) (. .))"
    )
    assert {("a plant at Rome", "which"), ("a plant", "which"), ("Rome", "which")} <= words_of(sentence, (7,))
    # Outside the relative clause its pronoun fills nothing.
    assert not any("which" in pieces for pieces in words_of(sentence, (8,)))
    place = parsed(
        "(NP (NP (DT the) (NN hill)) (SBAR (WHPP (IN on) (WHNP (WDT which))) (S (NP (PRP it)) (VP (VBD stood)))))"
    )
    assert {("the hill", "on which"), ("the hill", "which")} <= words_of(place, (5,))


def test_what_stands_around_a_target_is_a_candidate():
    sentence = parsed(
        "(S (NP (NNP Iran)) (VP (VBZ is) (VP (VBN believed) (S (VP (TO to) (VP (VB have) (NP (DT some))))))) (. .))"
    )
    assert ("Iran", "to have some") in words_of(sentence, (2,))
    assert ("Iran is", "to have some") in words_of(sentence, (2,))
    # Neither punctuation nor the target is part of a piece.
    assert all("." not in " ".join(each) and "believed" not in each for each in words_of(sentence, (2,)))


def test_the_ends_of_a_long_target_are_a_candidate():
    sentence = parsed("(NP (JJ chemical) (CC or) (JJ biological) (NNS weapons))")
    assert words_of(sentence, (0, 1, 2, 3)) == {("chemical", "weapons")}
    assert words_of(sentence, (2, 3)) == set()


def test_pieces_are_apart_and_in_order_and_need_constituents():
    sentence = parsed("(S (NP (NNP Anna)) (VP (MD will) (ADVP (RB probably)) (VP (VB sleep) (ADVP (RB well)))))")
    found = candidate_pieces(sentence, (2,))
    assert found == sorted(set(found))
    assert all(first[1] < second[0] for first, second in found)
    assert candidate_pieces(replace(sentence, constituents=None), (2,)) == []
    assert candidate_pieces(sentence, ()) == []


@pytest.mark.parametrize("templates", ["semafor", "extended"])
def test_a_candidate_in_pieces_has_the_features_of_each_and_some_of_its_own(templates):
    sentence = probably("Anna").parse
    spans = [((0, 0),), ((3, 3),), ((0, 0), (3, 3))]
    features, ends = collect(Rows([TargetInstance(sentence, (2,), "Likelihood", tuple(spans))]), templates)
    assert ends.shape == (4, GROUPS)
    starts = np.concatenate([[0], ends[:, -1]]).astype(int)
    first, second, both, null = (set(features[starts[at] : starts[at + 1]].tolist()) for at in range(4))
    assert first | second < both
    assert not null & both
    # The others are what they are without it.
    alone, ends = collect(Rows([TargetInstance(sentence, (2,), "Likelihood", tuple(spans[:2]))]), templates)
    assert set(alone[: int(ends[1, -1])].tolist()) == first | second


def test_gold_in_pieces_is_one_candidate_if_wanted():
    data = [probably("Anna")]
    for pieces, expected in ((True, ((0, 0), (3, 3))), (False, ((0, 0),))):
        instances = instances_of(data, pieces=pieces, gold=True)
        chosen = right_choices(data, instances, LEXICON)[0]
        assert instances[0].candidates[chosen] == expected
    assert all(len(each) == 1 for each in instances[0].candidates)
    # Pieces that overlap, or that lie within words, are no candidate together.
    (target,) = data[0].targets
    for odd in (Filler("Event", 0, 8), Filler("Event", 1, 2)):
        one = replace(data[0], targets=(replace(target, fillers=(target.fillers[0], odd)),))
        (instance,) = instances_of([one], pieces=True, gold=True)
        assert instance.candidates[right_choices([one], [instance], LEXICON)[0]] == ((0, 0),)


def test_fillers_in_pieces_are_learned_decoded_and_scored(labeler):
    test = [probably(name) for name in NAMES[6:]]
    found = labeler.predict(test)
    for one in found:
        (answer,) = one.frames
        assert [(filler.role, filler.first, filler.last) for filler in answer.fillers] == [
            ("Event", 0, 0),
            ("Event", 3, 3),
        ]
        assert answer.status == "optimal"
        assert answer.fillers[0].margin == answer.fillers[1].margin > 0
    assert evaluate_arguments(test, found, LEXICON).f1 == 1.0
    assert len(json.loads(json.dumps(found[0].to_json()))["frames"][0]["roles"]) == 2
    # One piece of two is worth nothing, as the official scorer has it.
    part = [replace(one, frames=tuple(replace(each, fillers=each.fillers[:1]) for each in one.frames)) for one in found]
    counts = evaluate_arguments(test, part, LEXICON)
    assert (counts.correct, counts.predicted, counts.gold) == (0.0, 2.0, 2.0)
    # Only contiguous candidates: the same texts cannot be labeled right.
    plain = FrameLabeler(bits=14, alpha=0.1, epochs=8).fit(test, lexicon=LEXICON)
    assert evaluate_arguments(test, plain.predict(test), LEXICON).correct == 0.0


def test_pieces_of_a_path_count_one_by_one():
    target = FrameTarget("Motion", ((0, 3),), (Filler("Path", 5, 9), Filler("Path", 20, 25)))
    data = [FrameInput(parsed("(S (VP (VB Walk) (ADVP (RB along))))"), (target,))]
    labeler = FrameLabeler(bits=10, epochs=1).fit(data, lexicon=LEXICON)
    assert evaluate_arguments(data, labeler.predict(data), LEXICON).gold == 2.0


def test_problems_with_pieces_obey_every_constraint(labeler):
    data = [probably(name) for name in NAMES]
    scored = labeler.score_candidates(data)
    assert all(len(problem.pieces) for problem in scored.problems(LEXICON))
    # All roles would rather be filled, and want the same words.
    labeler.null_offset = -50.0
    for one in labeler.predict(data):
        (answer,) = one.frames
        tokens = [token for filler in answer.fillers for token in range(filler.first, filler.last + 1)]
        assert answer.status == "optimal"
        assert {filler.role for filler in answer.fillers} == {"Event", "Degree"}
        assert len(tokens) == len(set(tokens))
    labeler.null_offset = 0.0


def test_labelers_with_pieces_come_back_from_files(labeler, tmp_path):
    sw.save(labeler, tmp_path / "pieces.sap")
    again = sw.load(tmp_path / "pieces.sap")
    data = [probably(name) for name in NAMES]
    assert again.pieces is True
    assert again.predict(data) == labeler.predict(data)
    with pytest.raises(ParameterError, match="pieces must be True or False"):
        FrameLabeler(pieces="yes").fit(data, lexicon=LEXICON)


def context(name: str, verb: str) -> tuple[FrameInput, ParsedSentence]:
    """Return "Fell hard" with a theme in the sentence before it, and that sentence."""
    before = parsed(f"(S (NP (NNP {name})) (VP (VBD {verb})) (. .))")
    after = parsed("(S (VP (VBD Fell) (ADVP (RB hard))) (. .))")
    start = -(before.offsets[-1][1] + 2)
    filler = Filler("Theme", start, start + len(name) - 1)
    return FrameInput(after, (FrameTarget("Motion", (after.offsets[0],), (filler,)),), "s2"), before


def test_fillers_in_the_sentence_before_are_learned_decoded_and_scored(tmp_path):
    data = [one.after([before]) for one, before in (context(name, verb) for name in NAMES for verb in ("sat", "rose"))]
    assert data[0].parse.words == ("Anna", "sat", ".", "Fell", "hard", ".")
    assert data[0].targets[0].fillers == (Filler("Theme", 0, 3),)
    assert data[0].targets[0].spans == (data[0].parse.offsets[3],)
    labeler = FrameLabeler(bits=14, alpha=0.1, epochs=8).fit(data[:12], lexicon=LEXICON)
    found = labeler.predict(data[12:])
    assert evaluate_arguments(data[12:], found, LEXICON).f1 == 1.0
    (answer,) = found[0].frames
    assert [(filler.role, filler.first, filler.last) for filler in answer.fillers] == [("Theme", 0, 0)]
    # Without its context the filler is out of reach.
    bare, _ = context("Anna", "sat")
    assert evaluate_arguments([bare], labeler.predict([bare]), LEXICON).correct == 0.0


def test_sentences_in_context_are_not_connected():
    one, before = context("Anna", "sat")
    three = one.after([before, before])
    parse = three.parse
    assert [token for token, head in enumerate(parse.heads) if head < 0] == [1, 4, 6]
    assert parse.constituents.parents.count(-1) == 3
    assert [parse.constituents.labels[node] for node in range(len(parse.constituents.labels))].count("S") == 3
    assert parse.tokens_in(*three.targets[0].spans[0]) == (6, 6)
    (instance,) = instances_of([three], pieces=True)
    assert all(last < 3 or (first >= 3 and last < 6) or first >= 6 for ((first, last), *_) in instance.candidates)
    view = SpanView(parse)
    assert view.path(6, 7)[0] == code(f"=VBD !{parse.relations[7]}")
    assert view.path(6, 1)[0] == view.path(6, 4)[0] == code("=VBD ||")
    assert view.phrase(6, (0, 0))[2] == view.phrase(6, (3, 3))[2] == code("||NP")
    assert one.after([]) == one
    with pytest.raises(DataError, match="s2: its targets are not given"):
        replace(one, find=True).after([before])


def test_a_release_is_read_with_the_sentences_before(tmp_path):
    sentence = """<sentence ID="{0}"><text>Rain fell</text><annotationSet frameName="Motion" status="MANUAL">
    <layer rank="1" name="Target"><label start="5" end="8" name="Target"/></layer><layer rank="1" name="FE">
    <label start="0" end="3" name="Theme"/></layer></annotationSet></sentence>"""
    for name in ("frame", "fulltext"):
        (tmp_path / name).mkdir()
    (tmp_path / "frame" / "Motion.xml").write_text('<frame name="Motion"><FE coreType="Core" name="Theme"/></frame>')
    lines = []
    for name in "ab":
        body = "".join(sentence.format(number) for number in range(3))
        (tmp_path / "fulltext" / f"{name}.xml").write_text(f"<fullTextAnnotation>{body}</fullTextAnnotation>")
        parse = {"doc": name, "offsets": [[0, 3], [5, 8]], "tree": "(S (NP (NN Rain)) (VP (VBD fell)))"}
        lines += [json.dumps({**parse, "sent_id": f"{number}"}) for number in range(3)]
    (tmp_path / "parses.jsonl").write_text("\n".join(lines))
    corpus = load_framenet(tmp_path, tmp_path / "parses.jsonl", context=1)
    # The first sentence of a text has none before it, also where another text was read before.
    assert [len(one.parse) for one in corpus.train] == [2, 4, 4, 2, 4, 4]
    assert [one.targets[0].fillers[0].start for one in corpus.train] == [0, 10, 10, 0, 10, 10]
    with pytest.raises(ParameterError, match="context"):
        load_framenet(tmp_path, tmp_path / "parses.jsonl", context=-1)


def test_the_command_trains_with_pieces(tmp_path, capsys):
    for name in ("frame", "fulltext"):
        (tmp_path / name).mkdir()
    (tmp_path / "frame" / "Likelihood.xml").write_text(
        '<frame name="Likelihood"><FE coreType="Core" name="Event"/><lexUnit name="probably.adv"/></frame>'
    )
    body = """<sentence ID="0"><text>Anna will probably sleep</text><annotationSet frameName="Likelihood"
    luName="probably.adv" status="MANUAL"><layer rank="1" name="Target"><label start="10" end="17" name="Target"/>
    </layer><layer rank="1" name="FE"><label start="0" end="3" name="Event"/>
    <label start="19" end="23" name="Event"/></layer>
    </annotationSet></sentence>"""
    (tmp_path / "fulltext" / "a.xml").write_text(f"<fullTextAnnotation>{body}</fullTextAnnotation>")
    tree = "(S (NP (NNP Anna)) (VP (MD will) (ADVP (RB probably)) (VP (VB sleep))))"
    record = {"doc": "a", "sent_id": "0", "offsets": [[0, 3], [5, 8], [10, 17], [19, 23]], "tree": tree}
    (tmp_path / "parses.jsonl").write_text(json.dumps(record))
    path = tmp_path / "frames.sap"
    line = ["train", "frames", str(tmp_path), "--parses", str(tmp_path / "parses.jsonl"), "-o", str(path)]
    assert main([*line, "--pieces", "--bits", "12"]) == 0
    model = sw.load(path)
    assert isinstance(model, FrameParser)
    assert model.labeler_.pieces is True
    capsys.readouterr()
