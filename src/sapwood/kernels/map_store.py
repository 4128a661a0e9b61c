"""How fitted feature maps are written to model files: their parameters, and the fragments or landmarks they learnt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sapwood import _core
from sapwood.errors import ParameterError
from sapwood.kernels.base import Kernel
from sapwood.kernels.hashing import HashedFragmentMap
from sapwood.kernels.landmarks import LandmarkMap
from sapwood.kernels.maps import FragmentMap, SubtreeMap
from sapwood.registry import Reader, Writer, register
from sapwood.trees.array import TreeArray
from sapwood.trees.grammar_store import head_table_parameters
from sapwood.trees.heads import HeadTable
from sapwood.trees.store import read_view, write_view


def _plain(name: str, value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise ParameterError(
        f"{name}={value!r} cannot be saved, since files hold no code; the map is fitted, so call "
        f"set_params({name}=None) before saving."
    )


def _write_heads(heads: Any) -> Any:
    if isinstance(heads, HeadTable):
        return {"table": head_table_parameters(heads)}
    if isinstance(heads, Mapping):
        return {"mapping": [[left, list(right), int(head)] for (left, right), head in heads.items()]}
    return _plain("heads", heads)


def _read_heads(data: Any) -> Any:
    if data is None:
        return None
    if "table" in data:
        return HeadTable(**data["table"])
    return {(left, tuple(right)): head for left, right, head in data["mapping"]}


def _write_map(mapped: Any, writer: Writer) -> dict[str, Any]:
    check_is_fitted(mapped)
    params = mapped.get_params(deep=False)
    data: dict[str, Any] = {"heads": _write_heads(params.pop("heads", None))}
    data["params"] = {name: _plain(name, value) for name, value in params.items()}
    data["fragments"] = writer.part(mapped.fragments_)
    if isinstance(mapped, FragmentMap):
        data["scores"] = writer.array(mapped.scores_.astype(np.float64))
    return data


def _reader_of(kind: type[Any]) -> Callable[[dict[str, Any], Reader], Any]:
    def read(data: dict[str, Any], reader: Reader) -> Any:
        heads = _read_heads(data["heads"])
        mapped = kind(**data["params"], **({} if heads is None else {"heads": heads}))
        mapped._check()
        fragments = reader.part(data["fragments"])
        if not isinstance(fragments, TreeArray) or fragments.has_bags or not len(fragments):
            raise reader.fail("the fragments of a map are not trees")
        sizes, _ = _core.explain.measure(fragments._arena, fragments._roots)
        if sizes.min() < 1:
            raise reader.fail("a fragment is a single leaf")
        if kind is FragmentMap:
            mapped.scores_ = reader.array(data["scores"], np.float64, 1)
            if len(mapped.scores_) != len(fragments) or not np.isfinite(mapped.scores_).all():
                raise reader.fail("the scores do not fit the fragments")
        mapped._keep(fragments)
        return mapped

    return read


def _write_landmarks(mapped: LandmarkMap, writer: Writer) -> dict[str, Any]:
    check_is_fitted(mapped)
    return {
        "params": {name: _plain(name, getattr(mapped, name)) for name in ("n_components", "random_state")},
        "kernel": None if mapped.kernel is None else writer.part(mapped.kernel),
        "fitted_kernel": writer.part(mapped.kernel_),
        "landmarks": write_view(mapped.landmarks_, writer),
        "normalization": writer.array(mapped.normalization_),
    }


def _read_landmarks(data: dict[str, Any], reader: Reader) -> LandmarkMap:
    mapped = LandmarkMap(None if data["kernel"] is None else reader.part(data["kernel"]), **data["params"])
    mapped.kernel_ = reader.part(data["fitted_kernel"])
    mapped.landmarks_ = read_view(data["landmarks"], reader)
    mapped.normalization_ = reader.array(data["normalization"], np.float64, 2)
    if not isinstance(mapped.kernel_, Kernel):
        raise reader.fail("the kernel of a map is none")
    if mapped.normalization_.shape != (mapped.landmarks_.shape[0],) * 2:
        raise reader.fail("the landmarks do not fit their normalisation")
    if not np.isfinite(mapped.normalization_).all():
        raise reader.fail("a number of the normalisation is not finite")
    return mapped


def _write_hashed(mapped: HashedFragmentMap, writer: Writer) -> dict[str, Any]:
    return {"params": {name: _plain(name, value) for name, value in mapped.get_params(deep=False).items()}}


def _read_hashed(data: dict[str, Any], reader: Reader) -> HashedFragmentMap:
    mapped = HashedFragmentMap(**data["params"])
    mapped._check()
    return mapped


register("HashedFragmentMap", HashedFragmentMap, _write_hashed, _read_hashed)
register("FragmentMap", FragmentMap, _write_map, _reader_of(FragmentMap))
register("LandmarkMap", LandmarkMap, _write_landmarks, _read_landmarks)
register("SubtreeMap", SubtreeMap, _write_map, _reader_of(SubtreeMap))
