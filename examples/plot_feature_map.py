"""
Which fragments tell classes apart?
===================================

A feature map lists fragments as columns, keeps those that matter by a chi-squared test, and any linear model can
weigh them: no kernel, and coefficients with names.
"""

import numpy as np
from sklearn.linear_model import LogisticRegression

import sapwood as sw
from sapwood.corpora import nursery
from sapwood.draw import Bar, bar_chart
from sapwood.kernels import FragmentMap

asked = [one for one in nursery.generate(size=400).sentences if one.label is not None]
X = sw.TreeArray([one.tree for one in asked])
y = np.array([one.label[0] for one in asked])
fragments = FragmentMap(max_size=2, select="chi2", n_fragments=300).fit(X, y)
model = LogisticRegression(max_iter=1000).fit(fragments.transform(X), y)

# %%
# The heaviest fragments of the class ``LOC``, places.
names = fragments.get_feature_names_out()
weights = model.coef_[list(model.classes_).index("LOC")]
best = np.argsort(weights)[::-1][:8]
bar_chart("Fragments of places", [Bar(str(names[at]), float(weights[at])) for at in best], label="weight")
