"""Each feature on the sentence that the literature's definitions are explained with."""

from __future__ import annotations

import pytest

from sapwood.errors import DataError, ParameterError
from sapwood.tasks.roles import feature_sets
from sapwood.tasks.roles.features import OF_BOTH, OF_NODES, OF_PREDICATES
from sapwood.tasks.roles.pruning import candidates
from sapwood.tasks.roles.views import Parse, View
from sapwood.trees import Tree
from sapwood.words.senses import WordSenses

PARSE = Parse(
    Tree.fromstring(
        "(S (NP (DT The) (JJ old) (NN teacher)) (VP (VBD was) (VP (VBN given) (NP (DT a) (JJ red) (NN book)) "
        "(PP (IN by) (NP (PRP$ her) (NNS students))) (NP (NN yesterday)))) (. .))"
    )
)
VIEW = PARSE.view(4, "give")
NODES = {
    "by": PARSE.at.spanning(8, 10)[0],
    "teacher": PARSE.at.spanning(0, 2)[0],
    "book": PARSE.at.spanning(5, 7)[0],
    "students": PARSE.at.spanning(9, 10)[0],
    "was": PARSE.at.spanning(3, 3)[0],
    "yesterday": PARSE.at.spanning(11, 11)[0],
}


def value(name: str, view: View, node: int) -> str:
    """Return a feature of a candidate."""
    if name in OF_NODES:
        return OF_NODES[name](view.parse, node)
    return OF_PREDICATES[name](view) if name in OF_PREDICATES else OF_BOTH[name](view, node)


@pytest.mark.parametrize(
    ("feature", "which", "expected"),
    [
        ("predicate", "by", "give"),
        ("phrase_type", "by", "PP"),
        ("path", "by", "PP^VP!VBN"),
        ("path", "teacher", "NP^S!VP!VP!VBN"),
        ("path", "book", "NP^VP!VBN"),
        ("path", "students", "NP^PP^VP!VBN"),
        ("path", "was", "VBD^VP!VP!VBN"),
        ("governing_category", "teacher", "S"),
        ("governing_category", "book", "VP"),
        ("governing_category", "by", ""),
        ("position", "by", "after"),
        ("position", "teacher", "before"),
        ("voice", "by", "passive"),
        ("head_word", "by", "by"),
        ("head_tag", "by", "IN"),
        ("subcategorization", "by", "VP->VBN-NP-PP-NP"),
        ("content_word", "by", "students"),
        ("content_tag", "by", "NNS"),
        ("syntactic_frame", "book", "np_v_NP_np"),
        ("frame_with_predicate", "book", "np_give_NP_np"),
        ("parent_preposition", "students", "by"),
        ("parent_preposition", "book", ""),
        ("partial_path", "by", "PP^VP"),
        ("undirected_path", "by", "PP-VP-VBN"),
        ("collapsed_path", "teacher", "NP^S!VP!VBN"),
        ("clause_path", "teacher", "NP^S!VP"),
        ("initial_path", "teacher", "NS!VVV"),
        ("type_with_preposition", "by", "PP-by"),
        ("first_word", "by", "by"),
        ("first_tag", "by", "IN"),
        ("last_word", "by", "students"),
        ("last_tag", "by", "NNS"),
        ("parent_type", "by", "VP"),
        ("parent_head", "by", "given"),
        ("left_type", "by", "NP"),
        ("left_head", "by", "book"),
        ("left_tag", "by", "NN"),
        ("right_type", "by", "NP"),
        ("right_head", "by", "yesterday"),
        ("right_tag", "by", "NN"),
        ("ordinal", "by", "1 PP after"),
        ("ordinal", "yesterday", "2 NP after"),
        ("distance", "by", "2"),
        ("temporal_cue", "yesterday", "yesterday"),
        ("temporal_cue", "by", ""),
        ("punctuation", "yesterday", "-p"),
        ("predicate_tag", "by", "VBN"),
        ("length", "by", "3"),
        ("word_distance", "by", "4-6"),
        ("second_word", "by", "her"),
        ("children_types", "by", "IN-NP"),
        ("later_phrases", "by", "NP"),
        ("content_ending", "by", "nts"),
        ("particle", "by", ""),
    ],
)
def test_worked_example(feature, which, expected):
    assert value(feature, VIEW, NODES[which]) == expected


def test_particles_and_relative_clauses():
    parse = Parse(
        Tree.fromstring("(S (NP (PRP I)) (VP (VBD gave) (PRT (RP up)) (SBAR (IN because) (S (VP (VBG x))))))")
    )
    view = parse.view(1, "give")
    clause = parse.at.spanning(3, 4)[0]
    assert value("particle", view, clause) == "up"
    assert value("content_word", view, clause) == "x"
    assert value("type_with_preposition", view, clause) == "SBAR-because"


def test_sets_name_what_they_hold():
    assert len(feature_sets.feature_names("basic")) == 20
    names = feature_sets.feature_names("full")
    full, linear = feature_sets.SETS["full"], feature_sets.SETS["linear"]
    assert len(names) == len(set(names)) == 44 + len(full.groups) == 44 + 8
    assert set(full.groups) <= set(linear.groups)
    assert len(linear.groups) == 41
    values = feature_sets.flat_features(VIEW, NODES["by"], "linear")
    assert values["predicate&type_with_preposition"] == "give|PP-by"
    assert "particle" not in feature_sets.flat_features(VIEW, NODES["by"])
    with pytest.raises(ParameterError, match="'basic', 'full', 'rich', 'linear'"):
        feature_sets.describe(VIEW, NODES["by"], "all")


@pytest.mark.slow
def test_every_candidate_has_every_feature_without_failing(treebank):
    for tree in list(treebank)[:60]:
        parse = Parse(tree)
        for word, tag in enumerate(parse.tags):
            if tag.startswith("VB"):
                view = parse.view(word, parse.lower[word])
                for node in candidates(parse.at, word):
                    assert len(feature_sets.describe(view, node, "linear")) == 44


@pytest.fixture
def given():
    view = PARSE.view(4, "give")
    view.given = tuple(NODES[name] for name in ("teacher", "book", "by", "yesterday"))
    return view


@pytest.mark.parametrize(
    ("feature", "which", "expected"),
    [
        ("given_frame", "teacher", "*NP_v_NP_PP_NP"),
        ("given_frame", "by", "NP_v_NP_*PP_NP"),
        ("given_frame_with_predicate", "book", "give:NP_v_*NP_PP_NP"),
        ("given_place", "teacher", "-1"),
        ("given_place", "book", "1"),
        ("given_place", "yesterday", "3"),
        ("previous_given", "teacher", "none"),
        ("previous_given", "yesterday", "PP-by"),
        ("next_given", "teacher", "NP"),
        ("next_given", "yesterday", "none"),
        ("arguments_after", "book", "3give"),
        ("given_rank", "teacher", "0/3"),
        ("given_rank", "yesterday", "2/3"),
        ("given_rank", "by", "0/1"),
    ],
)
def test_other_arguments_are_seen_where_they_are_given(given, feature, which, expected):
    assert value(feature, given, NODES[which]) == expected
    assert value(feature, VIEW, NODES[which]) == ""


def test_words_mean_something_where_there_is_a_wordnet(given):
    try:
        WordSenses()
    except DataError as error:
        pytest.skip(f"no WordNet: {error}")
    assert value("content_sense", VIEW, NODES["by"]) == "noun.person"
    assert value("content_lemma", VIEW, NODES["by"]) == "student"
    assert value("head_sense", VIEW, NODES["yesterday"]) == "noun.time"
    assert value("predicate_sense", VIEW, NODES["by"]) == "verb.possession"
    values = feature_sets.flat_features(given, NODES["by"], "rich")
    assert values["content_sense&type_with_preposition"] == "noun.person|PP-by"
    assert values["given_frame"] == "NP_v_NP_*PP_NP"
    assert set(feature_sets.flat_features(VIEW, NODES["by"])) <= set(values)
