"""
Who did what to whom
====================

Semantic roles and frames over sentences, learnt from the nursery in seconds.
"""

from sapwood.corpora import nursery
from sapwood.draw import roles_html, span_svg
from sapwood.tasks.frames import FrameLabeler, nursery_frames
from sapwood.tasks.roles import RoleLabeler

corpus = nursery.generate(size=500)
sentences = corpus.role_sentences()
labeler = RoleLabeler().fit(sentences[:400])
roles_html(labeler.label(sentences[417].tree))

# %%
# The same sentence has a frame, too.
lexicon, data = nursery_frames(corpus)
frames = FrameLabeler(bits=18, alpha=0.3, epochs=3).fit(data[:400], lexicon=lexicon)
answer = frames.predict(data[417:418])[0]
span_svg(answer.parse.words, answer.layers())
