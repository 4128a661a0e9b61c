"""
Semantic roles in a novel
=========================

Who does what to whom in a story? We label the semantic roles (SRL) of every sentence, collect what each character
does and what is done to them, and draw the result. It takes about half a minute.

So that this notebook needs no download, parser and labeler are trained here on the nursery, a synthetic toy corpus,
and the "novel" is a short text in the same simple English. For real prose use the English models of the package
``sapwood-en`` (``sapwood roles novel.txt``), or models that you have trained on a treebank; from there on the code is
the same.
"""

# %%
# A parser and a labeler
# ----------------------
from sapwood.corpora import nursery
from sapwood.parse import PCFGParser
from sapwood.tasks.roles import RoleLabeler

corpus = nursery.generate(size=600)
parser = PCFGParser().fit(corpus.trees)
labeler = RoleLabeler(parser=parser).fit(corpus.role_sentences()[:400])

# %%
# The story
# ---------
story = """
Anna gave the old baker a letter. The baker sent the letter to Hugo. Hugo found the letter in the garden on Friday.
The child saw Hugo near the barn. Anna bought the child a red apple. The child ate the apple in the park.
The old fox watched the child. Hugo chased the fox with the stick. The child gave Anna the letter.
"""
sentences = labeler.label_text(story)
len(sentences)

# %%
# In a notebook a labeled sentence draws itself: A0 is who acts, A1 what is acted on, A2 often who receives, AM-LOC
# where, AM-TMP when. A role has the same color in every picture.
sentences[0]

# %%
sentences[2]

# %%
# Who does what?
# --------------
# Count for each character how often it acts (A0), and how often it is acted on (A1 or A2).
from collections import Counter

acts, receives = Counter(), Counter()
for sentence in sentences:
    for proposition in sentence.propositions:
        for argument in proposition.arguments:
            head = sentence.words[argument.last]
            if argument.role == "A0":
                acts[head] += 1
            elif argument.role in ("A1", "A2"):
                receives[head] += 1

from sapwood.draw import Bar, bar_chart

people = [name for name, _ in (acts + receives).most_common() if acts[name]][:6]
bars = [bar for name in people for bar in (Bar(name, acts[name], "A0"), Bar(name, receives[name], "A1, A2"))]
bar_chart("Who acts, and who is acted on", bars, label="times", decimals=0)

# %%
# Who gave what to whom?
# ----------------------
# One line per event of giving, sending or buying:
for sentence in sentences:
    for proposition in sentence.propositions:
        if proposition.lemma in ("give", "send", "buy"):
            parts = {one.role: " ".join(sentence.words[one.first : one.last + 1]) for one in proposition.arguments}
            print(
                f"{parts.get('A0')} --{proposition.lemma}--> {parts.get('A1')} --> {parts.get('A2') or parts.get('A3')}"
            )

# %%
# How sure is it?
# ---------------
# Every argument has a probability; the least sure ones are worth a look.
unsure = sorted(
    (one.score, one.role, " ".join(sentence.words[one.first : one.last + 1]), proposition.lemma)
    for sentence in sentences
    for proposition in sentence.propositions
    for one in proposition.arguments
    if one.role != "V"
)
for score, role, text, lemma in unsure[:3]:
    print(f"{score:.3f}  {lemma}: {role} {text}")
