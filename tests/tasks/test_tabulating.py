"""Roles and frames as tables, and places in texts as people have them: paragraphs, emoji, odd characters."""

from __future__ import annotations

import numpy as np
import pytest

from sapwood.corpora import nursery
from sapwood.errors import DataError
from sapwood.parse import PCFGParser
from sapwood.tasks import to_frame
from sapwood.tasks.frames import FrameLabeler, FrameParser, nursery_frames
from sapwood.tasks.roles import RoleLabeler
from sapwood.trees import Argument, Proposition, RoleSentence

pandas = pytest.importorskip("pandas")

TEXTS = (
    "The dog chased the cat. It barked.",
    "  First paragraph: Anna gave Ben a book.\n\n\tThe child\r\nfound\u00a0the apple.  \n",
    "👩‍👩‍👧 The dog 🐕 chased the cat 😀! It barked 🇫🇷.",
    "- milk\n- the old scarf\n* Anna gave Ben a book\n",
    "The cafe\u0301 owner didn't like “the cat” (or the dog)...",
    "\x00\x07The dog\u200b chased \ufffd the cat.\ud800",
    "THE DOG CHASED THE CAT!!!",
    "x" * 3000 + " chased the cat.",
    "",
    " \n\n ",
    "Он увидел кошку. The dog chased it.",
    "if (dog > 0) { chase(cat); }  // The dog chased the cat.",
)


@pytest.fixture(scope="module")
def models():
    corpus = nursery.generate(size=80)
    parser = PCFGParser().fit(corpus.trees)
    lexicon, data = nursery_frames(corpus)
    frames = FrameParser(labeler=FrameLabeler(bits=12), parser=parser).fit(data, lexicon=lexicon)
    return RoleLabeler(parser=parser).fit(corpus.role_sentences()), frames


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["roles", "frames"])
def test_every_place_is_in_the_text(models, kind):
    roles, frames = models
    found = [(roles.label_text if kind == "roles" else frames.parse_text)(text) for text in TEXTS]
    table = to_frame(found, texts=TEXTS)
    assert len(table) > 5
    for row in table.itertuples():
        text = TEXTS[row.text]
        assert 0 <= row.predicate_begin < row.predicate_end <= len(text)
        assert row.predicate == text[row.predicate_begin : row.predicate_end]
        if not pandas.isna(row.role):
            assert row.argument == text[row.begin : row.end]
            assert row.argument == row.argument.strip()
    # Words stand one behind the other, and no letter is left out between them.
    for text, sentences in zip(TEXTS, found, strict=True):
        covered, end = np.zeros(len(text), bool), 0
        for sentence in sentences:
            places = sentence.parse.offsets if kind == "frames" else [(w.begin, w.end - 1) for w in sentence.words]
            for first, last in places:
                assert end <= first <= last
                end = last + 1
                covered[first : last + 1] = True
        assert not any(letter.isalnum() for letter, there in zip(text, covered, strict=True) if not there)


def test_rows():
    words = ("Dogs", "bark", "and", "sleep", ".")
    bark = Proposition(1, "bark", (Argument("A0", 0, 0, score=0.75), Argument("V", 1, 1)), "bark.01")
    sentence = RoleSentence(words, (bark, Proposition(3, "sleep", (Argument("V", 3, 3),))), how="parser")
    table = to_frame([sentence, sentence])
    assert table["text"].tolist() == [0, 0, 1, 1]
    assert table["sense"].tolist()[:2] == ["bark.01", "sleep"]
    assert table["argument"].tolist()[0] == "Dogs"
    assert table["argument"].isna().tolist() == [False, True] * 2
    assert table["score"].tolist()[0] == 0.75
    assert table["begin"].isna().all()
    assert set(table["how"]) == {"parser"}
    assert to_frame([]).columns.tolist() == table.columns.tolist()


def test_a_column_of_a_table_gives_its_index():
    texts = pandas.Series(["Dogs bark.", "Nothing."], index=["b", "a"])
    bark = Proposition(1, "bark", (Argument("A0", 0, 0),))
    found = [[RoleSentence(("Dogs", "bark", "."), (bark,))], []]
    assert to_frame(found, texts=texts)["text"].tolist() == ["b"]


def test_what_does_not_fit():
    sentence = RoleSentence(("Rain",))
    with pytest.raises(DataError, match="result 0 holds a str"):
        to_frame(["text"])
    with pytest.raises(DataError, match="2 texts, but 1 results"):
        to_frame([[sentence]], texts=["a", "b"])
    with pytest.raises(DataError, match="more results than texts"):
        to_frame([[sentence], []], texts=["a"])
