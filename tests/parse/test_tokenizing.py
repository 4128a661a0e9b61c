"""Words and sentences from raw text."""

from __future__ import annotations

import pickle
import re
import tarfile
import textwrap
import unicodedata
from contextlib import contextmanager
from itertools import pairwise
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapwood.errors import DataError
from sapwood.parse import Token, sentences, split_sentences, tokenize, tokenizing
from sapwood.parse.sentences import iter_sentences

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
    "thanks :) ok:-) (see this:) a:D :D (: p <3 10:30 foo(a:b) :/usr": (
        "thanks :-RRB- ok :--RRB- -LRB- see this : -RRB- a : D :D -LRB-: p < 3 10:30 foo -LRB- a : b -RRB- : / usr"
    ),
    "No!!! Why?! Really??": "No !!! Why ?! Really ??",
    "I dont know, cant go. Im ok; IM me. He was wont to go.": (
        "I do nt know , ca nt go . I m ok ; IM me . He was wont to go ."
    ),
    "@bob #NYC #1 C++ a@b.co #️⃣ x@y": "@bob #NYC # 1 C++ a@b.co #️⃣ x @ y",
    "a -> b >= 3 != 4 == *** p<0.05 >> ====": "a -> b >= 3 != 4 == *** p < 0.05 >> ====",
    "'Tis the summer of '74. '50' `x` 2 tbsp. oil, 5 min. Then": (
        "'T is the summer of '74 . ` 50 ' ` x ' 2 tbsp. oil , 5 min . Then"
    ),
    "": "",
    " \n\t ": "",
    "see http://a.b/U.S. and so on, etc... Yes, Inc..": "see http://a.b/U.S . and so on , etc ... Yes , Inc. .",
    "Mr.\u0301 x": "Mr .\u0301 x",
    "What's the U.S. capital, and who isn't there?": "What 's the U.S. capital , and who is n't there ?",
    # Marks stay with their letters.
    "the cafe\u0301's re\u0301sume\u0301, E\u0301. Zola": "the cafe\u0301 's re\u0301sume\u0301 , E\u0301. Zola",
    "नमस्ते दुनिया, क्\u200dष": "नमस्ते दुनिया , क्\u200dष",
    "בְּרֵאשִׁית בָּרָא": "בְּרֵאשִׁית בָּרָא",
    "السَّلَامُ عَلَيْكُمْ، نعم": "السَّلَامُ عَلَيْكُمْ ، نعم",
    "نمی\u200cآید و می\u200cخواهم": "نمی\u200cآید و می\u200cخواهم",
    "น้ำ ที่นี่": "น้ำ ที่นี่",
    "Ո՞վ է": "Ո՞վ է",
    "co\u00adoperate": "co\u00adoperate",
    'a_\u0301b ,\u0301 "\u0301 ..\u0301': 'a_\u0301 b ,\u0301 "\u0301 . .\u0301',
    "x \u0301y": "x \u0301 y",
    "\u0661\u0662 \u0600\u0661\u0662": "\u0661\u0662 \u0600\u0661\u0662",
    # Emoji and flags.
    "🇩🇪🇫🇷 🇩🇪🇫x": "🇩🇪 🇫🇷 🇩🇪 🇫 x",
    "👨‍👩‍👧‍👦👍🏽!": "👨‍👩‍👧‍👦 👍🏽 !",
    "🏴󠁧󠁢󠁥󠁮󠁧󠁿🏳️‍🌈🏴‍☠️": "🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏳️‍🌈 🏴‍☠️",
    "1️⃣2️⃣ Step1️⃣ 12️⃣ #️⃣*️⃣ ℹ️info": "1️⃣ 2️⃣ Step 1️⃣ 1 2️⃣ #️⃣ *️⃣ ℹ️ info",
    "❤️‍🔥☺️☺": "❤️‍🔥 ☺️ ☺",
    "👩\u200d🇩🇪": "👩\u200d🇩🇪",
    # Punctuation of other scripts; words that are not separated in writing are not told apart.
    "「私」『猫』（笑）、あ，い：う；え。": "「 私 」 『 猫 』 （ 笑 ） 、 あ ， い ： う ； え 。",
    "कैसे हो? ठीक हूँ।": "कैसे हो ? ठीक हूँ ।",
    '他说："你好。"然后': "他说 ： `` 你好 。 '' 然后",
    'قال:"نعم"': "قال : `` نعم ''",
    '그는 "안녕"이라고': "그는 `` 안녕 '' 이라고",
    'צה"ל ב"הארץ" רמטכ״ל ג׳ירפה': "צה\"ל ב `` הארץ '' רמטכ״ל ג׳ירפה",
    "见https://a.b/c?d=1，好": "见 https://a.b/c?d=1 ， 好",
    "د. محمد": "د. محمد",
    "„Ja“ “yes”": "`` Ja '' `` yes ''",
    "a\u2067b\u061cc": "a b c",
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
    "Really?! Yes... maybe": ["Really ?!", "Yes ... maybe"],
    "So good!!! 😂🙏🏽 Thanks. :) Bye :-( all": ["So good !!! 😂 🙏🏽", "Thanks . :-RRB-", "Bye :--LRB- all"],
    "Done.\n😂 Next. ★": ["Done .", "😂 Next . ★"],
    "": [],
    "今天很好。我们走吧！是的？！对｡好": ["今天很好 。", "我们走吧 ！", "是的 ？ ！", "对 ｡", "好"],
    "“你好！”他说。“你好！”，他说。": ["`` 你好 ！ ''", "他说 。", "`` 你好 ！ '' ， 他说 。"],
    "今天很好.我走了 真的?我不信!好": ["今天很好 .", "我走了 真的 ?", "我不信 !", "好"],
    "1.我们 Node.js很好": ["1 . 我们 Node.js很好"],
    "「はい。」と言った。『本当？』彼は": ["「 はい 。 」 と言った 。", "『 本当 ？ 』", "彼は"],
    "（終わり。）次です．さて３．５倍": ["（ 終わり 。 ）", "次です ．", "さて３ ． ５倍"],
    "كيف حالك؟ أنا بخير. شكرا! نعم": ["كيف حالك ؟", "أنا بخير .", "شكرا !", "نعم"],
    "د. محمد هنا. نعم": ["د. محمد هنا .", "نعم"],
    "یہ ہے۔ وہ ہے۔": ["یہ ہے ۔", "وہ ہے ۔"],
    "मैं ठीक हूँ। तुम कैसे हो? ठीक॥ हाँ": ["मैं ठीक हूँ ।", "तुम कैसे हो ?", "ठीक ॥", "हाँ"],
    "אני כאן. איפה אתה? שם": ["אני כאן .", "איפה אתה ?", "שם"],
    "네. 알겠습니다! 좋아요": ["네 .", "알겠습니다 !", "좋아요"],
    "ผมมา. คุณล่ะ? ดี": ["ผมมา .", "คุณล่ะ ?", "ดี"],
    "Լավ եմ։ Իսկ դու": ["Լավ եմ ։", "Իսկ դու"],
    "ሰላም። ደህና፧ አዎ": ["ሰላም ።", "ደህና ፧", "አዎ"],
    "გამარჯობა. როგორ ხარ": ["გამარჯობა .", "როგორ ხარ"],
    "„Ja.“ Er ging.": ["`` Ja . ''", "Er ging ."],
    "Heat to 180 °C. Beat 2 eggs.": ["Heat to 180 ° C .", "Beat 2 eggs ."],
    "Wow‼️ Great": ["Wow ‼️", "Great"],
    "Mr. 李 met e.g. 王 there. 好": ["Mr. 李 met e.g. 王 there .", "好"],
}


@pytest.mark.parametrize(("text", "expected"), SENTENCES.items())
def test_sentences(text, expected):
    assert [" ".join(sentence) for sentence in split_sentences(text)] == expected


_SKIPPED = re.compile(
    r"[\s\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff\ud800-\udfff]+"
)
_SCRIPTS = (
    *"aB1 .,'\"()-_!?@#’“„”。」と！？好カ।कबשน가۔՞ℹ…\n\u200d\u200c\u00ad\u0301\u05b0\u064e\u0e49",
    *"\ufe0f\u20e3🇩🇪🏴❤👨🏽",
    *(
        "\u094d",
        "\u093f",
        "\U0001d165",
        "\U000e0067",
        "\U000e007f",
        "\U000e0100",
        "http://",
        "a@b.c",
        "n't",
        "'s",
        "Mr. ",
    ),
    *("👨‍👩‍👧", "1️⃣", "🇩🇪", "U.S. ", "No. ", "\n\n", "e\u0301", "क्षि", "السَّلَامُ", "נְ"),
)
_TEXTS = (
    st.text(st.sampled_from("aB1 .,'\"()-$%!?\n\t\0n’“\U0001f600é…_/@\u200b\ud800"), max_size=60)
    | st.lists(st.sampled_from(_SCRIPTS), max_size=30).map("".join)
    | st.text(max_size=30)
)


@pytest.mark.slow
@given(_TEXTS)
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


def _is_pictured(char):
    return unicodedata.category(char) == "So" and not 0x1F1E6 <= ord(char) <= 0x1F1FF


@pytest.mark.slow
@given(_TEXTS)
def test_characters_that_are_seen_as_one_are_never_cut(text):
    ends = {token.end for token in tokenize(text)}
    for token in tokenize(text):
        here = token.begin
        if here == 0 or here not in ends:
            continue  # after white space, even a mark begins a token
        first, last = text[here], text[here - 1]
        assert unicodedata.category(first) not in ("Mn", "Mc", "Me")
        assert first not in "\u200c\u200d"
        assert not 0x1F3FB <= ord(first) <= 0x1F3FF
        assert not 0xE0020 <= ord(first) <= 0xE007F
        # A joiner between letters, or between emoji.
        letters = [char for char in text[:here] if unicodedata.category(char)[0] != "M" and char not in "\u200c\u200d"]
        if last in "\u200c\u200d" and letters:
            assert not (letters[-1].isalpha() and first.isalpha())
            assert not (last == "\u200d" and _is_pictured(letters[-1]) and _is_pictured(first))
        # The number of regional indicators before the second one of a pair is odd.
        before = re.search("[\U0001f1e6-\U0001f1ff]*$", text[:here])
        assert not (0x1F1E6 <= ord(first) <= 0x1F1FF and len(before[0]) % 2)


@given(
    st.lists(
        st.sampled_from((*"éàñüŞ ạ̀", *"the cat's. E'\"(1,", "É. ", "Mr. É", "n't", "한국", "が", "न")), max_size=30
    ).map("".join)
)
def test_the_form_of_normalization_changes_no_token(text):
    def joined(form):
        return [[unicodedata.normalize("NFC", token) for token in sentence] for sentence in split_sentences(form)]

    assert joined(unicodedata.normalize("NFD", text)) == joined(unicodedata.normalize("NFC", text))


@pytest.mark.parametrize(
    ("lines", "count"),
    [
        # Lines that are left early.
        (["Introduction", "This page says what is known of the weather in Leeds, and of"], 2),
        (["Rain, then more rain", "Stocks slip as oil jumps; dollar steady"], 2),
        (["it rained and no one came", "Then the sun came out, and so did everybody"], 2),
        (["Two held in Leeds", "Rain"], 2),
        (["What was there in 3 rooms", "4 chairs"], 2),
        # Headlines of one length.
        (["Council Backs Plan to Close Library", "Two Held After Robbery in Leeds"], 2),
        # The head of a mail, and who says what.
        (["From: Priya <p@example.com>", "To: team@example.com", "Subject: the meeting is at 3"], 3),
        (["ANNA: I asked you, and you", "BEN: said nothing"], 2),
        # Lines that go on: wrapped, with small letters, after a comma or a word that needs another.
        (["We were told by the people who live there that", "Leeds is wet"], 1),
        (["All the people who were seen on the road to", "Leeds were wet, the roads that go there were as well"], 1),
        (["In the evening of the day when we had seen the", "Leeds of our youth"], 1),
        (["the evening was wet and", "then we left, as did all those who had come there"], 1),
        (["Yesterday when we met", "I told you all of it, which took quite some time"], 1),
        (["Best,", "Priya"], 1),
        (["We came to see the people who had stayed, in old", "Leeds and in other places"], 1),
        (["she knew it: see", "Subject: x"], 1),
    ],
)
def test_sentences_end_with_lines_where_text_is_not_wrapped(lines, count):
    found = split_sentences("\n".join(lines))
    assert len(found) == count
    assert _places(iter_sentences(["\n".join(lines)])) == _places(found)


@pytest.mark.slow
@pytest.mark.parametrize("width", [40, 60, 72, 100])
def test_wrapping_moves_no_sentence(data, width):
    """Of English of many kinds, but for some headings."""
    paragraphs, changed, count = list(_gum_paragraphs(data)), 0, 0
    for text in paragraphs:
        whole = {sentence[0].begin for sentence in split_sentences(text)}
        wrapped = "\n".join(textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False))
        assert len(wrapped) == len(text)
        changed += len(whole ^ {sentence[0].begin for sentence in split_sentences(wrapped)})
        count += len(whole)
    assert count > 9000
    assert changed < 0.005 * count


@pytest.mark.slow
def test_paragraphs_and_headings_on_lines_of_their_own(data):
    paragraphs = list(_gum_paragraphs(data))
    begins, at = set(), 0
    for text in paragraphs:
        begins.add(at)
        at += len(text) + 1
    found = {sentence[0].begin for sentence in split_sentences("\n".join(paragraphs))}
    assert len(begins & found) > 0.9 * len(begins)


def _gum_paragraphs(data):
    path = data / "gum" / "gum-dep-conllu.tar.xz"
    if not path.exists():
        pytest.skip(f"GUM is not on this machine ({path})")
    with tarfile.open(path) as archive:
        for member in archive:
            # Of the forum, GUM has no words.
            if member.name.endswith(".conllu") and "reddit" not in member.name:
                text = archive.extractfile(member).read().decode()
                for paragraph in re.split(r"(?m)^# newpar$", text)[1:]:
                    sentences = re.findall(r"(?m)^# text = (.*)$", paragraph)
                    if sentences:
                        yield " ".join(" ".join(sentences).split())


@contextmanager
def _small(buffer):
    """Read and look ahead by a few characters."""
    with (
        mock.patch.multiple(sentences, _BUFFER=buffer, LOOKAHEAD=8),
        mock.patch.object(tokenizing, "LOOKAHEAD", 8),
    ):
        yield


def _places(found):
    return [[(str(token), token.begin, token.end) for token in sentence] for sentence in found]


_ENGLISH = (
    "He saw it. ",
    'She said "Go. ',
    'No." ',
    "Mr. ",
    "No. 5 ",
    "no.",
    " ",
    "   ",
    "\n",
    "\n \n",
    "a",
    "(It is.) ",
    '"',
    "U.S. The ",
    "Rain",
    "\nRain",
    "Subject: x",
)


@given(st.lists(st.sampled_from(_ENGLISH + _SCRIPTS), max_size=120).map("".join), st.data())
def test_text_in_chunks_gives_the_sentences_of_the_whole(text, data):
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=12).map(sorted))
    chunks = [text[begin:end] for begin, end in pairwise([0, *cuts, len(text)])]
    # Small, so that short texts are cut in many places.
    with _small(data.draw(st.integers(1, 40))):
        assert _places(iter_sentences(chunks)) == _places(split_sentences(text))


@pytest.mark.parametrize(
    "text",
    [
        "At 5 p.m. No. 5 left. ",
        "At 5 p.m. No, he left. ",
        "the U.S. The@bcdefghijklm.com is, the U.S. The@ is. ",
        'He said "It is so. Then he " left. ',
        "in Nov.\n\nhe left, in Nov.\n \n  he left. ",
        "One\nTwo Of\n  He left.\nTo: me\nOf: you\n",
        *SENTENCES,
    ],
)
def test_every_place_of_a_cut_gives_the_same(text):
    for before in range(25):
        whole = "x" * before + ". " + text * 2
        with _small(1):
            assert _places(iter_sentences(whole)) == _places(split_sentences(whole))


@pytest.mark.slow
def test_chunks_at_full_size():
    text = 'He said "It is so. Mr. Smith saw No. 5." He left\nat 5 p.m. He slept.\n\n今天很好。“你好！”他说。' * 1500
    chunks = [text[begin : begin + 9973] for begin in range(0, len(text), 9973)]
    assert _places(iter_sentences(chunks)) == _places(split_sentences(text))
    assert _places(iter_sentences(iter(["a " * 70_000, "b. C"]))) == _places(split_sentences("a " * 70_000 + "b. C"))
    assert list(iter_sentences([])) == []
    assert list(iter_sentences(["", " \n" * 100_000])) == []


@pytest.mark.parametrize("sentence", ["It is so. ", "今天很好。", "x\n\n"])
def test_only_what_is_not_certain_is_kept(sentence):
    given_out = 0

    def chunks():
        nonlocal given_out
        for _ in range(40):
            chunk = sentence * 50
            given_out += len(chunk)
            yield chunk

    with mock.patch.object(sentences, "_BUFFER", 1000):
        behind = [given_out - found[-1].end for found in iter_sentences(chunks())]
    assert len(behind) == 2000
    assert max(behind) < 1000 + 2 * 50 * len(sentence) + 200


@pytest.mark.slow
def test_a_sentence_without_end_is_not_gone_through_for_every_chunk():
    gone_through = 0
    whole = sentences._sentences

    def counted(text, *rest):
        nonlocal gone_through
        gone_through += len(text)
        return whole(text, *rest)

    with mock.patch.object(sentences, "_sentences", counted):
        (sentence,) = iter_sentences("word " * 10 for _ in range(8000))
    assert len(sentence) == 80_000
    assert gone_through < 4 * 400_000


def test_chunks_are_text():
    with pytest.raises(DataError, match="chunk 1 must be a str, got bytes"):
        list(iter_sentences(["a", b"b"]))


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


@pytest.mark.slow
def test_long_texts_take_time_in_proportion():
    import time

    def seconds(text):
        start = time.process_time()
        tokenize(text)
        return time.process_time() - start

    for piece in (
        "a" * 50 + " ",
        "...",
        "'",
        "a.",
        "1,",
        "-",
        "U.S. ",
        "http://",
        "+",
        "a-.",
        "Mr. ",
        "e\u0301",
        "😀\u200d",
    ):
        small, large = seconds(piece * 2000), seconds(piece * 16000)
        assert large < 40 * small + 1.0


def test_a_quote_that_is_never_closed_does_not_turn_others_round():
    """Apostrophes and backticks open what nothing closes; double quotes have pairs of their own."""
    words = list(map(str, tokenize('Rock \'n roll: `make` says "no rule", the \'80s were "fun".')))
    assert [word for word in words if word in ("``", "''")] == ["``", "''", "``", "''"]


def test_full_stops_before_numbers():
    """A page, a chapter or an article keeps its full stop where its number follows, and only there."""
    found = [[str(word) for word in one] for one in split_sentences("See p. 4 and ch. 2. It is art. He left.")]
    assert found == [
        ["See", "p.", "4", "and", "ch.", "2", "."],
        ["It", "is", "art", "."],
        ["He", "left", "."],
    ]


def test_items_of_a_list_are_sentences_with_their_numbers():
    text = "Shopping:\n- apples\n* milk (skimmed)\n1. Call the dentist\n2) Pay 7. Then rest."
    found = [text[one[0].begin : one[-1].end] for one in split_sentences(text)]
    assert found == [
        "Shopping:", "- apples", "* milk (skimmed)", "1. Call the dentist", "2) Pay 7.", "Then rest."
    ]  # fmt: skip
    assert [str(word) for one in iter_sentences(text) for word in one] == [
        str(word) for one in split_sentences(text) for word in one
    ]
