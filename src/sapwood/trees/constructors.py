"""Class methods of ``Tree`` that make a tree of something else, each documented here and done in a module of its own.

``convert`` has NLTK's trees, records and Python's syntax trees, ``nested`` dictionaries, tuples and JSON, ``markup``
XML and HTML, ``source_code`` what tree-sitter has parsed, ``dependency_sentence`` what spaCy has. Text in brackets is
read by ``Tree.fromstring``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import ast

    from sapwood.trees.tree import Tree

__all__ = ["Constructors"]


class Constructors:
    """What ``Tree`` has to be made of other things."""

    __slots__ = ()

    @classmethod
    def from_nltk(cls, tree: Any) -> Tree:
        """Convert an ``nltk.Tree``; leaves become trees without children."""
        from sapwood.trees.convert import from_nltk

        return from_nltk(tree)

    @classmethod
    def from_records(cls, records: Iterable[tuple[Any, Any, str]]) -> Tree:
        """Build a tree from ``(id, parent id, label)`` records; the root's parent is None, or NaN in a table.

        >>> from sapwood import Tree
        >>> print(Tree.from_records([(1, None, "NP"), (2, 1, "DT"), (3, 1, "NN")]))
        (NP DT NN)
        """
        from sapwood.trees.convert import from_records

        return from_records(records)

    @classmethod
    def from_ast(cls, source: str | ast.AST) -> Tree:
        """Build a tree from Python source code or from a node of Python's ``ast``.

        >>> from sapwood import Tree
        >>> print(Tree.from_ast("x = 1"))
        (Module (body (Assign (targets (Name (id x) (ctx Store))) (value (Constant (value 1))))))
        """
        from sapwood.trees.convert import from_ast

        return from_ast(source)

    @classmethod
    def from_tree_sitter(
        cls, node: Any, *, anonymous: bool = True, text: bool = True, fields: bool = False, extras: bool = False
    ) -> Tree:
        """Build a tree from a syntax tree of tree-sitter, of any ``tree-sitter-LANGUAGE`` package.

        Nodes are labeled with their types, such as ``function_definition``. Where the source has a syntax error, so has
        the tree: a node ``ERROR`` over what could not be parsed, or ``MISSING`` over what should be there.

        Parameters
        ----------
        node : tree_sitter.Node or tree_sitter.Tree
            What to convert; of a tree, its root.
        anonymous : bool
            Whether to keep tokens that have no name in the grammar: keywords, operators, brackets.
        text : bool
            Whether nodes that hold nothing else, such as ``identifier``, get their text as a leaf.
        fields : bool
            Whether a node that has a role in its parent, such as ``name``, gets another one above it that says so.
        extras : bool
            Whether to keep what may stand anywhere, such as comments.

        Examples
        --------
        With ``pip install tree-sitter tree-sitter-python``::

            import tree_sitter, tree_sitter_python
            parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_python.language()))
            print(Tree.from_tree_sitter(parser.parse(b"x = 1")))
            # (module (expression_statement (assignment (identifier x) = (integer 1))))
        """
        from sapwood.trees.source_code import from_tree_sitter

        return from_tree_sitter(node, anonymous=anonymous, text=text, fields=fields, extras=extras)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, label: str = "label", children: str = "children") -> Tree:
        """Build a tree from nested dictionaries; ``to_dict`` is the way back.

        Parameters
        ----------
        data : mapping
            With a label and, unless it is a leaf, a list of children, which are dictionaries or strings: a string is a
            leaf. Other entries are left out.
        label, children : str
            The keys of the label and of the children, such as ``"name"`` in files for D3.

        Examples
        --------
        >>> from sapwood import Tree
        >>> print(Tree.from_dict({"label": "NP", "children": [{"label": "DT", "children": ["the"]}, {"label": "NN"}]}))
        (NP (DT the) NN)
        """
        from sapwood.trees.nested import from_dict

        return from_dict(data, label=label, children=children)

    @classmethod
    def from_tuples(cls, data: Any) -> Tree:
        """Build a tree from nested tuples: a label, then the children; ``to_tuples`` is the way back.

        A string is a leaf. A list may stand for a tuple, and a tuple ``(label, [child, ...])`` may hold its children in
        a list of their own.

        >>> from sapwood import Tree
        >>> print(Tree.from_tuples(("NP", ("DT", "the"), ("NN", "dog"))))
        (NP (DT the) (NN dog))
        """
        from sapwood.trees.nested import from_tuples

        return from_tuples(data)

    @classmethod
    def from_json(cls, data: Any, *, sort_keys: bool = False) -> Tree:
        """Build a tree from JSON: text, or what ``json.loads`` makes of it.

        An object is a node ``object`` with a child per member, which is labeled with the member's name and holds its
        value; a list is a node ``array``. Other values are leaves, written as in JSON, but text without its quotes
        unless it would read as something else (``"1"``, ``"true"``, ``""``).

        Parameters
        ----------
        data : str, bytes, dict, list, number, bool or None
            Text is parsed as JSON.
        sort_keys : bool
            Whether members are put in the order of their names: then objects that JSON takes for equal are equal trees.

        Examples
        --------
        >>> from sapwood import Tree
        >>> print(Tree.from_json('{"name": "oak", "rings": [3, null]}'))
        (object (name oak) (rings (array 3 null)))
        """
        from sapwood.trees.nested import from_json

        return from_json(data, sort_keys=sort_keys)

    @classmethod
    def from_xml(
        cls, source: Any, *, text: Literal["words", "whole", "drop"] = "words", attributes: bool = True
    ) -> Tree:
        """Build a tree from XML: text, or an element of ``xml.etree.ElementTree``.

        An element is a node with its name; an attribute is a node ``@name`` over its value, before the other children.
        Comments and processing instructions are left out. Nothing is expanded or fetched: a document that declares
        entities is refused.

        Parameters
        ----------
        source : str, bytes or Element
            The document.
        text : {"words", "whole", "drop"}
            What becomes of text: a leaf per word, a leaf per stretch of text with single blanks, or nothing.
        attributes : bool
            Whether to keep attributes.

        Examples
        --------
        >>> from sapwood import Tree
        >>> print(Tree.from_xml('<p class="lead">An <b>old</b> tree</p>'))
        (p (@class lead) An (b old) tree)
        """
        from sapwood.trees.markup import from_xml

        return from_xml(source, text=text, attributes=attributes)

    @classmethod
    def from_html(
        cls, source: str | bytes, *, text: Literal["words", "whole", "drop"] = "words", attributes: bool = True
    ) -> Tree:
        """Build a tree from a page or a piece of HTML, as forgiving as Python's ``html.parser``.

        Nodes are as in ``from_xml``. End tags that HTML lets one leave out are put in for ``p``, ``li``, ``td`` and
        their like; scripts and styles are nodes without text. Several elements side by side get a root ``html``.

        Parameters
        ----------
        source : str or bytes
            The page; bytes are UTF-8.
        text : {"words", "whole", "drop"}
            What becomes of text: a leaf per word, a leaf per stretch of text with single blanks, or nothing.
        attributes : bool
            Whether to keep attributes.

        Examples
        --------
        >>> from sapwood import Tree
        >>> print(Tree.from_html("<ul><li>elm<li>old <b>oak</b></ul>"))
        (ul (li elm) (li old (b oak)))
        """
        from sapwood.trees.markup import from_html

        return from_html(source, text=text, attributes=attributes)

    @classmethod
    def from_spacy(
        cls,
        source: Any,
        shape: Literal["relation", "lexical", "words"] = "relation",
        *,
        labels: Any = "plain",
        drop_relations: Collection[str] = ("punct",),
    ) -> Tree:
        """Build a tree from a sentence that spaCy has parsed: a document of one sentence, or one of ``doc.sents``.

        The parameters are those of ``DependencySentence.to_tree``: by default a node per word, labeled with its
        relation, over its dependents and over its tag with its lemma.

        Examples
        --------
        >>> from sapwood import Tree
        >>> import spacy  # doctest: +SKIP
        >>> print(Tree.from_spacy(spacy.load("en_core_web_sm")("Dogs bark.")))  # doctest: +SKIP
        (root (nsubj (NNS dog)) (VBP bark))
        """
        from sapwood.trees.dependency_sentence import DependencySentence

        return DependencySentence.from_spacy(source).to_tree(shape, labels=labels, drop_relations=drop_relations)
