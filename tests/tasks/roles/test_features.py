"""Each feature on the sentence that the literature's definitions are explained with."""

from __future__ import annotations

import pytest

from sapwood.errors import DataError, ParameterError
from sapwood.tasks.roles import context, feature_sets
from sapwood.tasks.roles import features as f
from sapwood.tasks.roles.pruning import candidates
from sapwood.tasks.roles.views import Parse
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


@pytest.mark.parametrize(
    ("feature", "which", "expected"),
    [
        (f.predicate, "by", "give"),
        (f.phrase_type, "by", "PP"),
        (f.path, "by", "PP^VP!VBN"),
        (f.path, "teacher", "NP^S!VP!VP!VBN"),
        (f.path, "book", "NP^VP!VBN"),
        (f.path, "students", "NP^PP^VP!VBN"),
        (f.path, "was", "VBD^VP!VP!VBN"),
        (f.governing_category, "teacher", "S"),
        (f.governing_category, "book", "VP"),
        (f.governing_category, "by", ""),
        (f.position, "by", "after"),
        (f.position, "teacher", "before"),
        (f.voice, "by", "passive"),
        (f.head_word, "by", "by"),
        (f.head_tag, "by", "IN"),
        (f.subcategorisation, "by", "VP->VBN-NP-PP-NP"),
        (f.content_word, "by", "students"),
        (f.content_tag, "by", "NNS"),
        (f.syntactic_frame, "book", "np_v_NP_np"),
        (f.frame_with_predicate, "book", "np_give_NP_np"),
        (f.parent_preposition, "students", "by"),
        (f.parent_preposition, "book", ""),
        (f.partial_path, "by", "PP^VP"),
        (f.undirected_path, "by", "PP-VP-VBN"),
        (f.collapsed_path, "teacher", "NP^S!VP!VBN"),
        (f.clause_path, "teacher", "NP^S!VP"),
        (f.initial_path, "teacher", "NS!VVV"),
        (f.type_with_preposition, "by", "PP-by"),
        (f.first_word, "by", "by"),
        (f.first_tag, "by", "IN"),
        (f.last_word, "by", "students"),
        (f.last_tag, "by", "NNS"),
        (f.parent_type, "by", "VP"),
        (f.parent_head, "by", "given"),
        (f.left_type, "by", "NP"),
        (f.left_head, "by", "book"),
        (f.left_tag, "by", "NN"),
        (f.right_type, "by", "NP"),
        (f.right_head, "by", "yesterday"),
        (f.right_tag, "by", "NN"),
        (f.ordinal, "by", "1 PP after"),
        (f.ordinal, "yesterday", "2 NP after"),
        (f.distance, "by", "2"),
        (f.temporal_cue, "yesterday", "yesterday"),
        (f.temporal_cue, "by", ""),
        (f.punctuation, "yesterday", "-p"),
        (f.predicate_tag, "by", "VBN"),
        (f.length, "by", "3"),
        (f.word_distance, "by", "4-6"),
        (f.second_word, "by", "her"),
        (f.children_types, "by", "IN-NP"),
        (f.later_phrases, "by", "NP"),
        (f.content_ending, "by", "nts"),
        (f.particle, "by", ""),
    ],
)
def test_worked_example(feature, which, expected):
    assert feature(VIEW, NODES[which]) == expected


def test_particles_and_relative_clauses():
    parse = Parse(
        Tree.fromstring("(S (NP (PRP I)) (VP (VBD gave) (PRT (RP up)) (SBAR (IN because) (S (VP (VBG x))))))")
    )
    view = parse.view(1, "give")
    clause = parse.at.spanning(3, 4)[0]
    assert f.particle(view, clause) == "up"
    assert f.content_word(view, clause) == "x"
    assert f.type_with_preposition(view, clause) == "SBAR-because"


def test_sets_name_what_they_hold():
    assert len(feature_sets.feature_names("basic")) == 20
    names = feature_sets.feature_names("full")
    assert len(names) == len(set(names)) == len(feature_sets.FULL) + len(feature_sets.GROUPS)
    assert set(feature_sets.GROUPS) <= set(feature_sets.CONJUNCTIONS)
    values = feature_sets.describe(VIEW, NODES["by"], "linear")
    names = feature_sets.feature_names("linear")
    assert values[names.index("predicate&type_with_preposition")] == "give|PP-by"
    assert "particle" not in feature_sets.flat_features(VIEW, NODES["by"])
    with pytest.raises(ParameterError, match="'basic', 'full', 'rich', 'linear'"):
        feature_sets.describe(VIEW, NODES["by"], "all")


def test_every_candidate_has_every_feature_without_failing(treebank):
    for tree in list(treebank)[:60]:
        parse = Parse(tree)
        for word, tag in enumerate(parse.tags):
            if tag.startswith("VB"):
                view = parse.view(word, parse.lower[word])
                for node in candidates(parse.at, word):
                    assert len(feature_sets.describe(view, node, "linear")) == len(feature_sets.feature_names("linear"))


@pytest.fixture
def given():
    view = PARSE.view(4, "give")
    view.given = tuple(NODES[name] for name in ("teacher", "book", "by", "yesterday"))
    return view


@pytest.mark.parametrize(
    ("feature", "which", "expected"),
    [
        (context.given_frame, "teacher", "*NP_v_NP_PP_NP"),
        (context.given_frame, "by", "NP_v_NP_*PP_NP"),
        (context.given_frame_with_predicate, "book", "give:NP_v_*NP_PP_NP"),
        (context.given_place, "teacher", "-1"),
        (context.given_place, "book", "1"),
        (context.given_place, "yesterday", "3"),
        (context.previous_given, "teacher", "none"),
        (context.previous_given, "yesterday", "PP-by"),
        (context.next_given, "teacher", "NP"),
        (context.next_given, "yesterday", "none"),
        (context.arguments_after, "book", "3give"),
        (context.given_rank, "teacher", "0/3"),
        (context.given_rank, "yesterday", "2/3"),
        (context.given_rank, "by", "0/1"),
    ],
)
def test_other_arguments_are_seen_where_they_are_given(given, feature, which, expected):
    assert feature(given, NODES[which]) == expected
    assert feature(VIEW, NODES[which]) == ""


def test_words_mean_something_where_there_is_a_wordnet(given):
    try:
        WordSenses()
    except DataError as error:
        pytest.skip(f"no WordNet: {error}")
    assert context.content_sense(VIEW, NODES["by"]) == "noun.person"
    assert context.content_lemma(VIEW, NODES["by"]) == "student"
    assert context.head_sense(VIEW, NODES["yesterday"]) == "noun.time"
    assert context.predicate_sense(VIEW, NODES["by"]) == "verb.possession"
    values = feature_sets.flat_features(given, NODES["by"], "rich")
    assert values["content_sense&type_with_preposition"] == "noun.person|PP-by"
    assert values["given_frame"] == "NP_v_NP_*PP_NP"
    assert set(feature_sets.flat_features(VIEW, NODES["by"])) <= set(values)
