"""FrameNet's files: the published counts, and everything a broken file can do."""

from __future__ import annotations

import io
import time
from collections import Counter

import pytest

from sapwood.corpora import framenet
from sapwood.corpora.framenet.fulltext import Filler, read_fulltext
from sapwood.corpora.framenet.lexicon import read_frames, read_relations
from sapwood.corpora.framenet.release import read_splits
from sapwood.errors import DataError, FormatError

FRAME = b"""<?xml version="1.0" encoding="UTF-8"?>
<frame name="Similarity" xmlns="http://framenet.icsi.berkeley.edu">
  <FE coreType="Core" name="Entities"><excludesFE name="Entity_1"/></FE>
  <FE coreType="Core" name="Entity_1"><requiresFE name="Entity_2"/></FE>
  <FE coreType="Core" name="Entity_2"/>
  <FE coreType="Peripheral" name="Degree"/>
  <FEcoreSet><memberFE name="Entities"/><memberFE name="Entity_1"/></FEcoreSet>
  <lexUnit name="take_after.v"><lexeme order="2" name="after"/><lexeme order="1" name="take"/></lexUnit>
</frame>"""

TEXT = b"""<?xml version="1.0" encoding="UTF-8"?>
<fullTextAnnotation>
 <sentence ID="7">
  <text>She gave it up &amp; left</text>
  <annotationSet status="UNANN">
   <layer rank="1" name="PENN">
    <label start="0" end="2" name="PP"/><label start="4" end="7" name="VVD"/><label start="9" end="10" name="PP"/>
    <label start="12" end="13" name="RP"/><label start="15" end="15" name="CC"/><label start="17" end="20" name="VVD"/>
   </layer>
  </annotationSet>
  <annotationSet frameName="Giving_up" luName="give_up.v" status="MANUAL">
   <layer rank="1" name="Target">
    <label start="4" end="7" name="Target"/><label start="12" end="13" name="Target"/>
   </layer>
   <layer rank="1" name="FE">
    <label start="0" end="2" name="Agent"/><label start="9" end="10" name="Theme"/><label itype="INI" name="Time"/>
   </layer>
   <layer rank="2" name="FE"><label start="0" end="20" name="Other"/></layer>
  </annotationSet>
  <annotationSet frameName="Departing" luName="leave.v" status="UNANN">
   <layer rank="1" name="Target"><label start="17" end="20" name="Target"/></layer>
  </annotationSet>
 </sentence>
</fullTextAnnotation>"""


def test_a_frame_file_is_read_whole():
    (frame,) = read_frames(io.BytesIO(FRAME))
    assert [element.name for element in frame.elements] == ["Entities", "Entity_1", "Entity_2", "Degree"]
    assert [element.is_core for element in frame.elements] == [True, True, True, False]
    assert frame.excludes == ((0, 1),)
    assert frame.requires == ((1, 2),)
    assert frame.core_sets == (("Entities", "Entity_1"),)
    assert frame.lexical_units[0].lexemes == ("take", "after")


def test_a_sentence_keeps_multiword_targets_null_roles_and_status():
    (sentence,) = read_fulltext(io.BytesIO(TEXT))
    assert sentence.text == "She gave it up & left"
    assert sentence.tokens == ("She", "gave", "it", "up", "&", "left")
    giving, leaving = sentence.targets
    assert giving.spans == ((4, 7), (12, 13))
    assert giving.fillers == (Filler("Agent", 0, 2), Filler("Theme", 9, 10))
    assert giving.null == (("Time", "INI"),)
    assert (giving.annotated, leaving.annotated) == (True, False)


BOMB = b"""<?xml version="1.0"?><!DOCTYPE f [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]><fullTextAnnotation><sentence ID="1"><text>&c;</text></sentence>
</fullTextAnnotation>"""
FETCH = b'<?xml version="1.0"?><!DOCTYPE f SYSTEM "file:///etc/passwd"><frame name="x"/>'


@pytest.mark.parametrize("data", [BOMB, FETCH, BOMB.decode().encode("utf-16")], ids=["bomb", "fetch", "utf-16"])
@pytest.mark.parametrize("reader", [read_fulltext, read_frames])
def test_document_types_are_refused(reader, data):
    data = data.replace(b'<?xml version="1.0"?>', b"") if b"\0" not in data else data
    with pytest.raises(FormatError, match="document type"):
        list(reader(io.BytesIO(data)))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "cut off or empty"),
        (TEXT[:900], "cut off or empty|broken XML"),
        (TEXT[:-3], "cut off or empty|broken XML"),
        (b"<html/>", "holds no <fullTextAnnotation>"),
        (TEXT.replace(b'end="10" name="Theme"', b'end="21" name="Theme"'), "lies outside the sentence, which has 21"),
        (TEXT.replace(b'start="9" end="10" name="Theme"', b'start="11" end="10" name="Theme"'), "lies outside"),
        (TEXT.replace(b'end="10" name="Theme"', b'end="x" name="Theme"'), "expected a whole number"),
        (TEXT.replace(b'end="10" name="Theme"', b'end="99999999999999999999" name="Theme"'), "expected a whole number"),
        (TEXT.replace(b'ID="7"', b""), "without the attribute 'ID'"),
        (b"\xff\xfe\x00", "broken XML"),
        (b"<fullTextAnnotation>" * 300, "nested more than"),
        (b'<?xml version="1.0" encoding="klingon"?><a/>', "broken XML"),
    ],
)  # fmt: skip
def test_broken_texts_say_where(data, message):
    with pytest.raises(FormatError, match=message) as caught:
        list(read_fulltext(io.BytesIO(data)))
    assert caught.value.line >= 1


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (FRAME.replace(b'"Peripheral"', b'"Odd"'), "coreType is 'Odd'"),
        (FRAME[:300], "cut off|broken XML"),
        (TEXT, "holds no <frame>"),
    ],
)
def test_broken_frames_say_where(data, message):
    with pytest.raises(FormatError, match=message):
        list(read_frames(io.BytesIO(data)))


def test_an_empty_document_has_no_sentences():
    assert not list(read_fulltext(io.BytesIO(b"<fullTextAnnotation></fullTextAnnotation>")))


def test_a_folder_is_read_like_an_archive(tmp_path):
    for name, data in (("frame/Similarity.xml", FRAME), ("fulltext/Doc.xml", TEXT)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    release = framenet.read(tmp_path)
    assert repr(release) == "FrameNet(1 frames; 1 texts, 1 sentences, 2 targets)"
    assert release.unknown == {"Departing": 1, "Giving_up": 1}
    with pytest.raises(DataError, match="no text called 'Missing'"):
        release.of(["Missing"])
    with pytest.raises(DataError, match="lexicon has no frame 'Giving_up'"):
        release.lexicon["Giving_up"]
    with pytest.raises(DataError, match="no such folder or archive"):
        framenet.read(tmp_path / "nowhere")
    with pytest.raises(DataError, match="neither"):
        framenet.read(tmp_path / "frame")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not valid JSON"),
        ('{"doc": "d", "sent_id": "7", "offsets": [[0, 3]], "tree": "(NP (NN a) (NN b))"}', "2 leaves"),
        ('{"doc": "d", "sent_id": "7", "offsets": [[3, 0]], "tree": "(NN a)"}', "do not follow"),
        ('{"doc": "d", "sent_id": "7", "offsets": 3, "tree": "(NN a)"}', "as JSON"),
        ('{"doc": "d", "sent_id": "7", "offsets": [[0, 3]], "tree": 5}', "text in brackets"),
    ],
)
def test_broken_parses_say_where(line, message):
    with pytest.raises(FormatError, match=message):
        framenet.read_parses(io.StringIO(line))


def test_splits_must_name_both_parts(tmp_path):
    path = tmp_path / "splits.json"
    path.write_text('{"test": ["a"]}')
    with pytest.raises(DataError, match='"test" and "dev"'):
        read_splits(path)


@pytest.fixture(scope="module")
def release(data):
    path = data / "framenet-1.5" / "fndata-1.5-core.tar.xz"
    if not path.exists():
        pytest.skip(f"FrameNet 1.5 is not on this machine ({path})")
    start = time.process_time()
    found = framenet.read(path)
    # Reading is one pass; far below the limit on an idle machine, so that the test only notices a change of kind.
    assert time.process_time() - start < 10.0
    return found


@pytest.mark.slow
def test_the_release_has_the_published_counts(release, data):
    frames = release.lexicon.frames.values()
    elements = [element for frame in frames for element in frame.elements]
    kinds = Counter(element.core_type for element in elements)
    assert len(frames) == 1019
    assert kinds == {"Core": 2992, "Core-Unexpressed": 93, "Peripheral": 4263, "Extra-Thematic": 2285}
    assert sum(bool(element.excludes) for element in elements) == 411
    assert sum(bool(element.requires) for element in elements) == 99
    assert sum(len(frame.core_sets) for frame in frames) == 340
    # The counts of the paper: frames with pairs that exclude, and that require each other.
    assert sum(bool(frame.excludes) for frame in frames) == 204
    assert sum(bool(frame.requires) for frame in frames) == 54
    assert len(release.documents) == 78
    split = read_splits(data / "framenet-1.5" / "splits.json")
    train = [name for name in release.documents if name not in {*split["test"], *split["dev"]}]
    for documents, sentences, targets, unannotated, fillers in (
        (train, 3139, 17149, 434, 29626),
        (split["dev"], 387, 2333, 37, 4063),
        (split["test"], 2420, 4458, 422, 7210),
    ):
        part = release.of(documents)
        found = [target for sentence in part for target in sentence.targets]
        assert (len(part), len(found)) == (sentences, targets)
        assert sum(not target.annotated for target in found) == unannotated
        assert sum(len(target.fillers) for target in found if target.annotated) == fillers
    assert sum(len(sentence.targets) for sentence in release.sentences) == 23940
    assert release.lexicon.ancestors["Commerce_buy", "Buyer"] == (("Getting", "Recipient"),)


@pytest.mark.slow
def test_parses_and_texts_agree_about_tokens(release, data):
    parses = framenet.read_parses(data / "framenet-1.5" / "fulltext-parses.jsonl.xz")
    missing = [one for one in release.sentences if (one.document, one.id) not in parses]
    assert len(missing) == 3
    for sentence in release.sentences:
        parse = parses.get((sentence.document, sentence.id))
        assert parse is None or parse.offsets == sentence.offsets


@pytest.mark.slow
def test_release_1_7_is_read_too(data):
    path = data / "framenet-1.7" / "fndata-1.7-core.tar.xz"
    if not path.exists():
        pytest.skip(f"FrameNet 1.7 is not on this machine ({path})")
    release = framenet.read(path)
    assert (len(release.lexicon), len(release.documents)) == (1221, 106)


def test_relations_name_both_frames():
    text = b"""<frameRelations><frameRelationType name="Inheritance"><frameRelation subFrameName="A" superFrameName="B">
    <FERelation subFEName="x" superFEName="y"/></frameRelation></frameRelationType></frameRelations>"""
    (relation,) = read_relations(io.BytesIO(text))
    assert (relation.kind, relation.child, relation.parent, relation.elements) == (
        "Inheritance",
        "A",
        "B",
        (("x", "y"),),
    )
