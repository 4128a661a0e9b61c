"""Spans over sentences: labels whole, borders right, long sentences broken, bad spans refused."""

from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapwood.draw import LabeledSpan, SpanLayer, span_svg, span_text
from sapwood.draw.inline import displacy_spans, span_brackets
from sapwood.draw.listing import span_list
from sapwood.errors import DataError, ParameterError
from sapwood.palette import text_width
from sapwood.parse import split_sentences

WORDS = ["Kim", "gave", "the", "old", "dog", "some", "bones", "in", "the", "park", "yesterday"]
LAYER = SpanLayer("Giving", [LabeledSpan("Donor", 0, 0), LabeledSpan("Recipient", 2, 4)], marked=[1])


def test_brackets_stand_under_their_words():
    words, spans = span_text(WORDS, [LAYER], width=200).splitlines()
    assert spans[words.index("Kim")] == "["
    assert spans[words.index("the")] == "["
    assert spans[words.index("dog") + 2] == "]"
    assert spans[words.index("gave") : words.index("gave") + 4] == "^^^^"
    assert "Donor" in spans
    assert "Recipient" in spans
    assert spans.endswith("Giving")


def test_overlapping_spans_take_another_line():
    layer = SpanLayer("F", [LabeledSpan("One", 0, 3), LabeledSpan("Two", 2, 5)])
    assert len(span_text(WORDS, [layer], width=200).splitlines()) == 3


def test_long_sentences_are_broken_and_spans_go_on():
    text = span_text(WORDS, [SpanLayer("F", [LabeledSpan("Everything", 0, 10)])], width=25)
    blocks = text.split("\n\n")
    assert len(blocks) > 1
    assert blocks[0].splitlines()[1].rstrip("F").rstrip().endswith(">")
    assert blocks[-1].splitlines()[1].startswith("<")


def test_pictures_hold_every_word_and_label_and_escape_them():
    layer = SpanLayer("A & B", [LabeledSpan("<x>", 0, 1)], marked=[0])
    picture = span_svg(["a<b", "c"], [layer])
    for text in ("a&lt;b", "&lt;x&gt;", "A &amp; B"):
        assert text in picture
    assert span_svg([], []).startswith("<svg")
    assert span_text([], []) == ""


@pytest.mark.parametrize("span", [LabeledSpan("x", 0, 99), LabeledSpan("x", -1, 0), LabeledSpan("x", 2, 1)])
def test_spans_outside_the_sentence_are_refused(span):
    for draw in (span_text, span_svg, span_brackets, span_list, displacy_spans):
        with pytest.raises(DataError, match="does not fit a sentence of 11 words"):
            draw(WORDS, [SpanLayer("F", [span])])
        with pytest.raises(DataError, match="marked word 11"):
            draw(WORDS, [SpanLayer("F", [], marked=[11])])


@pytest.mark.slow
@given(
    words=st.lists(st.text("abcdef", min_size=1, max_size=9), min_size=1, max_size=12),
    data=st.data(),
)
def test_any_spans_can_be_drawn(words, data):
    places = st.integers(0, len(words) - 1)
    pairs = data.draw(st.lists(st.tuples(st.text("XYZ", min_size=1, max_size=12), places, places), max_size=6))
    layer = SpanLayer("F", [LabeledSpan(label, min(a, b), max(a, b)) for label, a, b in pairs], [0])
    width = data.draw(st.integers(5, 60))
    text = span_text(words, [layer], width=width)
    for word in words:
        assert word in text
    if width == 60 and sum(map(len, words)) < 20 and len(pairs) == 1:
        assert pairs[0][0] in text
    # Where a line is broken, a span goes on in the next one.
    labels = re.findall('font-weight="600">([^<]+)<', span_svg(words, [layer]))
    assert sorted(label for label in labels if not label.startswith("… ")) == sorted(label for label, *_ in pairs)


def test_brackets_within_the_line_keep_every_word_and_show_overlaps_on_lines_of_their_own():
    layer = SpanLayer("F", [LabeledSpan("One", 0, 3), LabeledSpan("Two", 2, 5)], marked=[6, 7])
    first, second = span_brackets(WORDS, [layer]).splitlines()
    assert first == "F: [One Kim gave the old] dog some *bones in* the park yesterday"
    assert second == "F: Kim gave [Two the old dog some] *bones in* the park yesterday"
    assert span_brackets(WORDS, []) == " ".join(WORDS)
    assert span_brackets(WORDS, [SpanLayer("F", [])]) == "F: " + " ".join(WORDS)


def test_marked_words_within_a_span_are_marked():
    """A target may stand in its own filler, or be it."""
    inside = SpanLayer("Giving", [LabeledSpan("Event", 0, 4), LabeledSpan("Time", 10, 10)], marked=[1])
    assert span_brackets(WORDS, [inside]) == (
        "Giving: [Event Kim *gave* the old dog] some bones in the park [Time yesterday]"
    )
    whole = SpanLayer("Giving", [LabeledSpan("Act", 1, 1)], marked=[1])
    assert span_brackets(WORDS[:3], [whole]) == "Giving: Kim [Act *gave*] the"
    assert "[Act" in span_text(WORDS[:3], [whole])
    words, marks, spans = span_text(WORDS, [inside], width=200).splitlines()
    assert marks.split() == ["^^^^", "Giving"]
    assert words[marks.index("^") :].startswith("gave")
    assert spans[words.index("Kim")] == "["
    assert "Event" in spans


def test_pictures_escape_and_give_parts_of_one_thing_one_colour():
    spans = [LabeledSpan("A0", 0, 0), LabeledSpan("A1", 1, 1), LabeledSpan("C-A0", 2, 2), LabeledSpan("V", 3, 3)]
    drawn = span_svg(["a<b", "c", "d", "e"], [SpanLayer("x & y", spans)])
    assert "a&lt;b" in drawn
    assert "x &amp; y" in drawn
    one, other, again, verb = re.findall("stroke:([^;]+);", drawn)
    assert one == again
    assert len({one, other, verb}) == 3


def test_every_part_of_a_broken_span_has_room_for_its_label():
    words = ["on", "that", "long", "and", "windy", "Tuesday", "in", "May"]
    layer = SpanLayer("Hitting", [LabeledSpan("Time_of_the_event", 3, 7), LabeledSpan("Manner", 0, 2)])
    drawn = span_svg(words, [layer], width=260)
    boxes = [float(wide) for wide in re.findall(r'<rect [^>]*width="([\d.]+)" height="20"', drawn)]
    labels = re.findall('font-weight="600">([^<]+)<', drawn)
    assert len(boxes) == len(labels) == 3
    assert {"Time_of_the_event", "… Time_of_the_event", "Manner"} <= set(labels)
    assert all(wide >= text_width(label, 12) + 12 for wide, label in zip(boxes, labels, strict=True))


@given(words=st.lists(st.text("abc ", min_size=1, max_size=5), min_size=1, max_size=8), data=st.data())
def test_displacy_spans_name_the_same_words_by_tokens_and_by_characters(words, data):
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first, len(words) - 1))
    layers = [SpanLayer("F", [LabeledSpan("x", first, last)])]
    (tokens,), (characters,) = (displacy_spans(words, layers, style=style) for style in ("span", "ent"))
    span, entity = tokens["spans"][0], characters["ents"][0]
    named = " ".join(tokens["tokens"][span["start_token"] : span["end_token"]])
    assert characters["text"][entity["start"] : entity["end"]] == named


def test_displacy_has_two_styles():
    with pytest.raises(ParameterError, match='"span" or "ent"'):
        displacy_spans(WORDS, [LAYER], style="dep")


def test_lists_name_each_span_with_its_words_and_notes():
    layer = SpanLayer(
        "give.01", [LabeledSpan("A0", 0, 0, "giver"), LabeledSpan("A2", 2, 4), LabeledSpan("A1", 5, 6, "thing given")],
        marked=[1, 7], note="transfer",
    )  # fmt: skip
    assert span_list(WORDS, [layer]).splitlines() == [
        "Kim gave the old dog some bones in the park yesterday",
        "",
        "  give.01: transfer",
        "    A0  Kim          giver",
        "    *   gave",
        "    A2  the old dog",
        "    A1  some bones   thing given",
        "    *   in",
    ]
    assert span_list(WORDS, []) == " ".join(WORDS)


def test_lists_put_words_together_as_they_stand_in_the_text():
    for text in ("\"I can't (won't) go,\" he said.", "It's 5%."):
        (words,) = split_sentences(text)
        assert span_list(words, []) == text


@given(st.lists(st.text("ab ", max_size=40), min_size=1, max_size=30), st.integers(60, 100), st.data())
def test_lists_fit_and_lose_no_word(words, width, data):
    words = [word.replace(" ", "") + str(number) for number, word in enumerate(words)]
    first = data.draw(st.integers(0, len(words) - 1))
    span = LabeledSpan(
        "Role", first, data.draw(st.integers(first, len(words) - 1)), data.draw(st.text("xy ", max_size=60))
    )
    lines = span_list(words, [SpanLayer("T", [span])], width=width).splitlines()
    assert max(map(len, lines)) <= width
    label = lines.index("  T")
    found = re.sub(r"\s", "", "".join(lines[:label]))
    assert found == "".join(words)
    notes = re.findall("[xy]+", "".join(lines[label + 1 :]))
    assert "".join(notes) == re.sub(" ", "", span.note)


def test_pictures_show_notes_under_the_mouse():
    layer = SpanLayer("T", [LabeledSpan("A", 0, 0, 'a "b" <c>')], note="<t>")
    drawn = span_svg(WORDS, [layer])
    assert "<g><title>a &quot;b&quot; &lt;c&gt;</title><rect" in drawn
    assert "<title>&lt;t&gt;</title>T</text>" in drawn


def test_words_are_drawn_as_texts_have_them() -> None:
    words = ["`", "Go", "-LRB-", "now", "-RRB-", "'", ",", "``", "no", "''"]
    layer = [SpanLayer("go", [LabeledSpan("V", 1, 1)])]
    drawn = unescape(span_svg(words, layer))
    assert re.findall(r"<title>([^<]*)</title>", drawn)[0] == "' Go ( now ) ' , \" no \""
    assert span_text(words, layer).splitlines()[0].split() == ["'", "Go", "(", "now", ")", "'", ",", '"', "no", '"']
