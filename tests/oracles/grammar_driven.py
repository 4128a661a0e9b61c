"""The grammar-driven kernel twice over, slowly and exactly: by enumerating deletions, and by explicit feature vectors.

Nothing here shares code with the library; numbers are fractions wherever the definition stays rational.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import combinations, product
from math import prod, sqrt


class Oracle:
    """Rules and options, as plain as possible.

    rules: {(lhs, rhs): head}; heads: the same for productions outside the rules. Labels in both are without marks.
    """

    def __init__(
        self,
        rules,
        heads,
        *,
        decay,
        deletion,
        mutation,
        sets=(),
        lexical="exact",
        scope="deep",
        duplicates="count",
        normalize=False,
        marks=("-ARG", "-PRED", "-PATH"),
        max_deletions=None,
        deletable=None,
        strict_head=False,
        similarity=None,
        min_children=2,
    ):
        self.rules, self.heads = rules, heads
        self.decay, self.deletion, self.mutation = decay, deletion, mutation
        self.sets, self.lexical, self.scope, self.duplicates = sets, lexical, scope, duplicates
        self.normalize, self.marks = normalize, marks
        self.max_deletions, self.deletable, self.strict_head = max_deletions, deletable, strict_head
        self.similarity, self.min_children = similarity, min_children
        self.left = {lhs for lhs, _ in rules}

    # Labels.

    def split(self, label):
        for mark in self.marks:
            if label.endswith(mark) and len(label) > len(mark):
                return label[: -len(mark)], mark
        return label, ""

    def bare(self, label):
        return self.split(label)[0]

    def is_tag(self, node):
        return len(node.children) == 1 and node.children[0].is_leaf and self.bare(node.label) not in self.left

    def mutants(self, label):
        """The labels a tag may become, marks kept, with the price of each."""
        bare, mark = self.split(label)
        family = next((each for each in self.sets if bare in each), (bare,))
        return {other + mark: 1 if other == bare else self.mutation for other in family}

    def word_similarity(self, first, second):
        if self.lexical == "ignore":
            return 1
        if self.similarity is not None:
            return self.similarity(first, second)
        return int(first == second)

    def tag_similarity(self, first, second):
        one, other = self.mutants(first), self.mutants(second)
        value = sum(one[label] * other[label] for label in one if label in other)
        if self.normalize:
            value = value / sqrt(sum(v * v for v in one.values())) / sqrt(sum(v * v for v in other.values()))
        return value

    # Variations of a node: the children that stay.

    def variations(self, node):
        rhs = tuple(self.bare(child.label) for child in node.children)
        lhs = self.bare(node.label)
        size = len(rhs)
        everything = tuple(range(size))
        head = self.rules.get((lhs, rhs), self.heads.get((lhs, rhs)))
        found = {tuple(child.label for child in node.children): [everything]}
        if head is None:
            return found
        for length in range(self.min_children, size):
            if self.max_deletions is not None and size - length > self.max_deletions:
                continue
            for kept in combinations(everything, length):
                gone = [node.children[i].label for i in everything if i not in kept]
                reduced = lhs, tuple(rhs[i] for i in kept)
                if (
                    head in kept
                    and reduced in self.rules
                    and not any(self.split(label)[1] for label in gone)
                    and (self.deletable is None or all(label in self.deletable for label in gone))
                    and (not self.strict_head or kept.index(head) == self.rules[reduced])
                ):
                    found.setdefault(tuple(node.children[i].label for i in kept), []).append(kept)
        if self.duplicates == "canonical":
            found = {form: [min(each)] for form, each in found.items()}
        return found

    # Route one: Eq. 5 and 6 by enumeration.

    def kernel(self, first, second):
        known = {}
        return sum(self.delta(a, b, known) for a in first.preorder() for b in second.preorder())

    def delta(self, a, b, known):
        key = a, b
        if key not in known:
            known[key] = self._delta(a, b, known)
        return known[key]

    def _delta(self, a, b, known):
        if a.is_leaf or b.is_leaf:
            return 0
        if self.is_tag(a) and self.is_tag(b):
            words = self.word_similarity(a.children[0].label, b.children[0].label)
            return self.decay * self.tag_similarity(a.label, b.label) * words
        if self.is_tag(a) or self.is_tag(b) or a.label != b.label:
            return 0
        total = 0
        mine = [kept for each in self.variations(a).values() for kept in each]
        theirs = defaultdict(list)
        for each in self.variations(b).values():
            for kept in each:
                theirs[len(kept)].append(kept)
        for one in mine:
            for other in theirs[len(one)]:
                value = self.deletion ** (len(a.children) + len(b.children) - 2 * len(one))
                for i, j in zip(one, other, strict=True):
                    value *= self.aligned(a.children[i], b.children[j], known)
                    if not value:
                        break
                total += value
        return self.decay * total

    def aligned(self, a, b, known):
        key = "aligned", a, b
        if key not in known:
            known[key] = self._aligned(a, b, known)
        return known[key]

    def _aligned(self, a, b, known):
        if self.scope == "root":
            return 1 + self.delta(a, b, known) if a.label == b.label else 0
        if self.is_tag(a) and self.is_tag(b):
            words = self.word_similarity(a.children[0].label, b.children[0].label)
            return self.tag_similarity(a.label, b.label) * (1 + self.decay * words)
        for tag, other in ((a, b), (b, a)):
            if self.is_tag(tag):
                # A label that is no tag here never mutates; the tag may have mutated into it, unless it is a phrase.
                if self.bare(other.label) in self.left:
                    return 0
                mutants = self.mutants(tag.label)
                value = mutants.get(other.label, 0)
                return value / sqrt(sum(v * v for v in mutants.values())) if self.normalize else value
        return 1 + self.delta(a, b, known) if a.label == b.label else 0

    # Route two: the feature vectors of Eq. 3 and 4. A feature is (fragment, number of its productions).

    def vector(self, tree):
        total = defaultdict(Fraction)
        known = {}
        for node in tree.preorder():
            for feature, value in self.features(node, known).items():
                total[feature] += value
        return total

    def size(self, tree):
        """At least the number of features of the tree, found without making them."""
        sizes = {}
        for node in tree.postorder():
            if node.is_leaf:
                sizes[node] = 0
            elif self.is_tag(node):
                sizes[node] = 2 * len(self.mutants(node.label))
            else:
                sizes[node] = sum(
                    prod(1 + sizes[node.children[i]] for i in kept)
                    for each in self.variations(node).values()
                    for kept in each
                )
        return sum(sizes[node] for node in tree.preorder())

    def features(self, node, known):
        if node in known:
            return known[node]
        result = defaultdict(Fraction)
        if node.is_leaf:
            pass
        elif self.is_tag(node):
            word = "*" if self.lexical == "ignore" else node.children[0].label
            for label, price in self.mutants(node.label).items():
                result[("tag", label, word), 1] += price
        else:
            for each in self.variations(node).values():
                for kept in each:
                    slots = [self.slot(node.children[i], known) for i in kept]
                    price = self.deletion ** (len(node.children) - len(kept))
                    for choice in product(*(slot.items() for slot in slots)):
                        value, size = price, 1
                        for (_, part_size), part_value in choice:
                            value *= part_value
                            size += part_size
                        result[("phrase", node.label, tuple(part for (part, _), _ in choice)), size] += value
        known[node] = result
        return result

    def slot(self, child, known):
        """What may stand in the place of a child: its label alone, or its label with a fragment below it."""
        result = defaultdict(Fraction)
        if self.scope == "deep" and self.is_tag(child):
            word = "*" if self.lexical == "ignore" else child.children[0].label
            for label, price in self.mutants(child.label).items():
                # A phrase is no tag, even under the same name.
                name = ("as tag", label) if self.bare(label) in self.left else label
                result[(name, None), 0] += price
                result[(name, word), 1] += price
            return result
        result[(child.label, None), 0] += 1
        for (fragment, size), value in self.features(child, known).items():
            result[(child.label, fragment), size] += value
        return result

    def product(self, first, second):
        one, other = self.vector(first), self.vector(second)
        return sum(
            value * other[feature] * self.decay ** feature[1] for feature, value in one.items() if feature in other
        )
