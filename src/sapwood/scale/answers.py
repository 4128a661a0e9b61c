"""Models asked over a cluster: predictions of parts, and role labelling, in the order of the data.

The model is brought to every worker once. What it answers, and how answers are written, is the business of the model
and of its task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from sklearn.utils.validation import check_is_fitted

from sapwood import cluster
from sapwood.checks import check_count
from sapwood.errors import ParameterError
from sapwood.notebook import HtmlTable
from sapwood.scale.parts import as_part
from sapwood.tasks.roles.labeler import RoleLabeler
from sapwood.trees.propositions import RoleSentence

__all__ = ["ClusterLabeler", "predict"]


def predict(
    model: Any,
    parts: Iterable[Any],
    *,
    read: Callable[[Any], Any] | None = None,
    client: Any = None,
    method: str = "predict",
) -> Iterator[Any]:
    """Yield what a model answers for each part, in their order, with only a few parts in memory at a time.

    Parameters
    ----------
    model : estimator
        Anything with the method: a ``ShardClassifier``, a ``KernelSVC``, a pipeline.
    parts : iterable
        Examples, cut into parts (see ``in_parts``; labels are left out). With ``read``, whatever that takes.
    read : callable, optional
        Called by the worker with a part, and gives examples.
    client : distributed.Client, optional
        The cluster; without one, everything happens here.
    method : str
        Which method of the model to call.

    Examples
    --------
    >>> from sapwood.learn import KernelSVC
    >>> clf = KernelSVC().fit(["(S (WH who) (V runs))", "(S (N he) (V ran))"], ["ask", "tell"])
    >>> [answers.tolist() for answers in predict(clf, [["(S (WH who) (V ran))"], ["(S (N he) (V runs))"]])]
    [['ask'], ['tell']]
    """
    if not callable(getattr(model, method, None)):
        raise ParameterError(f"{type(model).__name__} has no method {method!r}.")
    return _predict(model, parts, read, client, method)


def _predict(
    model: Any, parts: Iterable[Any], read: Callable[[Any], Any] | None, client: Any, method: str
) -> Iterator[Any]:
    shared = (cluster.share(client, model), method, read)
    tasks = ((part,) for part in parts)
    for _, answer in cluster.run(client, _ask, tasks, shared=shared, ordered=True, what="parts"):
        yield answer


def _ask(model: Any, method: str, read: Callable[[Any], Any] | None, part: Any) -> Any:
    given = part if read is None else read(part)
    if isinstance(given, (tuple, list)):
        given, _ = as_part(given)
    return getattr(model, method)(given)


class ClusterLabeler(HtmlTable):
    """A role labeller whose sentences are labelled by the workers of a cluster.

    Takes the labeller's place in ``sapwood.tasks.roles.runs.label_to_file``, which writes the same bytes then, and goes
    on where a run was stopped, with or without a cluster.

    Parameters
    ----------
    labeler : RoleLabeler
        A fitted labeller.
    client : distributed.Client, optional
        The cluster; without one, everything happens here.
    part : int
        Sentences that a worker gets at once.

    Examples
    --------
    >>> from sapwood.corpora import nursery
    >>> from sapwood.tasks.roles import RoleLabeler
    >>> sentences = nursery.generate(size=300).role_sentences()
    >>> labeler = RoleLabeler().fit(sentences[:250])
    >>> spread = ClusterLabeler(labeler, client=None, part=20)
    >>> list(spread.label_sentences(sentences[250:])) == list(labeler.label_sentences(sentences[250:]))
    True
    """

    def __init__(self, labeler: RoleLabeler, client: Any, *, part: int = 100) -> None:
        check_count(part, "part")
        check_is_fitted(labeler)
        self._labeler, self._client, self._part = labeler, client, part

        self.identifier_, self.classifier_ = labeler.identifier_, labeler.classifier_

    def label_sentences(
        self, sentences: Iterable[RoleSentence], *, given_predicates: bool = False
    ) -> Iterator[RoleSentence]:
        """Yield sentences with predicted propositions instead of their own; see ``RoleLabeler.label_sentences``."""
        source = iter(sentences)
        parts = iter(lambda: list(islice(source, self._part)), [])
        shared = (cluster.share(self._client, self._labeler), given_predicates)
        for _, labelled in cluster.run(self._client, _label, ((part,) for part in parts), shared=shared, ordered=True):
            yield from labelled


def _label(labeler: RoleLabeler, given_predicates: bool, sentences: list[RoleSentence]) -> list[RoleSentence]:
    return list(labeler.label_sentences(sentences, given_predicates=given_predicates))
