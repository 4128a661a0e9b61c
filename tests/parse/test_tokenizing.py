"""Words and sentences from raw text."""

from __future__ import annotations

import pickle
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapwood.errors import DataError
from sapwood.parse import Token, split_sentences, tokenize

CASES = {
    "It's 5%.": "It 's 5 % .",
    "He said, \"I can't (won't) go.\"": "He said , `` I ca n't -LRB- wo n't -RRB- go . ''",
    "Mr. Vinken is chairman of Elsevier N.V., the Dutch group.": (
        "Mr. Vinken is chairman of Elsevier N.V. , the Dutch group ."
    ),
    "The 1,200-mile trip cost $3.50 -- or so...": "The 1,200-mile trip cost $ 3.50 -- or so ...",
    "dogs' bones and the dog's tail": "dogs ' bones and the dog 's tail",
    "I cannot; we're gonna, they've": "I can not ; we 're gon na , they 've",
    "‘Don’t’ “go” — now": "` Do n't ' `` go '' -- now",
    "see http://a.b/c?d=1. Mail go@x.com, now": "see http://a.b/c?d=1 . Mail go@x.com , now",
    "AT&T and/or x_y, J.P. Morgan & Co.": "AT&T and/or x_y , J.P. Morgan & Co .",
    "No. 5, no.": "No. 5 , no .",
    "ok \U0001f600\U0001f44d\U0001f3fd!": "ok \U0001f600 \U0001f44d\U0001f3fd !",
    "tab\tnul\0bell\x07 zero\u200bwidth": "tab nul bell zero width",
    "[x] {y}": "-LSB- x -RSB- -LCB- y -RCB-",
    "": "",
    " \n\t ": "",
}


@pytest.mark.parametrize(("text", "words"), CASES.items())
def test_words(text, words):
    assert " ".join(tokenize(text)) == words


SENTENCES = {
    "Mr. Vinken joined in Nov. He is 61. (Yes.) Ok?": [
        "Mr. Vinken joined in Nov.",
        "He is 61 .",
        "-LRB- Yes . -RRB-",
        "Ok ?",
    ],
    'He said "Go." Then he left.': ["He said `` Go . ''", "Then he left ."],
    "At 5 p.m. the U.S. market closed. The end": ["At 5 p.m. the U.S. market closed .", "The end"],
    "a title\n\nno capitals here": ["a title", "no capitals here"],
    "one line\nof text": ["one line of text"],
    "Really?! Yes... maybe": ["Really ? !", "Yes ... maybe"],
    "": [],
}


@pytest.mark.parametrize(("text", "expected"), SENTENCES.items())
def test_sentences(text, expected):
    assert [" ".join(sentence) for sentence in split_sentences(text)] == expected


_SKIPPED = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060\ufeff\ud800-\udfff]+")


@given(
    st.text(st.sampled_from("aB1 .,'\"()-$%!?\n\t\0n’“\U0001f600é…_/@\u200b\ud800"), max_size=60) | st.text(max_size=30)
)
def test_every_character_belongs_to_one_word(text):
    tokens = tokenize(text)
    end = 0
    for token in tokens:
        assert token
        assert not _SKIPPED.search(token)
        assert token.begin >= end
        assert not _SKIPPED.sub("", text[end : token.begin])
        assert token.end > token.begin
        end = token.end
    assert not _SKIPPED.sub("", text[end:])
    assert [token for sentence in split_sentences(text) for token in sentence] == tokens
    assert all(split_sentences(text))


def test_tokens_are_strings_that_remember():
    (token,) = tokenize("  rain ")
    assert token == "rain"
    assert isinstance(token, str)
    assert (token.begin, token.end) == (2, 6)
    again = pickle.loads(pickle.dumps(token))
    assert isinstance(again, Token)
    assert (again, again.begin, again.end) == ("rain", 2, 6)


@pytest.mark.parametrize("wrong", [b"bytes", None, ["a"]])
def test_only_text_is_taken(wrong):
    with pytest.raises(DataError, match="must be a str"):
        tokenize(wrong)


def test_long_texts_take_time_in_proportion():
    import time

    def seconds(text):
        start = time.process_time()
        tokenize(text)
        return time.process_time() - start

    for piece in ("a" * 50 + " ", "...", "'", "a.", "1,", "-", "U.S. ", "http://"):
        small, large = seconds(piece * 2000), seconds(piece * 16000)
        assert large < 40 * small + 1.0
