"""Every public signature and every documented fitted attribute has a type."""

import dataclasses
import inspect
import re

import pytest
from sklearn.base import BaseEstimator

from sklearn_sl._discovery import all_estimators, public_objects

PUBLIC = public_objects()


def own_functions(item):
    """Yield the public functions of an object that this package defines, with their names."""
    if inspect.isfunction(item):
        yield item.__qualname__, item
        return
    if dataclasses.is_dataclass(item) or issubclass(item, tuple):
        return  # whose fields have types anyway
    for name, method in inspect.getmembers(item, inspect.isfunction):
        own = inspect.unwrap(method).__module__.startswith("sklearn_sl.")
        if own and (name == "__init__" or not name.startswith("_")):
            yield f"{item.__name__}.{name}", inspect.unwrap(method)


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_signature_is_annotated(name):
    missing = []
    for place, function in own_functions(PUBLIC[name]):
        signature = inspect.signature(function)
        bare = [p for p, q in signature.parameters.items() if q.annotation is q.empty]
        missing += [f"{place}({p})" for p in bare if p not in ("self", "cls")]
        missing += [f"{place} ->"] if signature.return_annotation is signature.empty else []
    assert not missing


@pytest.mark.parametrize("cls", all_estimators(), ids=lambda cls: cls.__name__)
def test_every_documented_attribute_is_annotated(cls):
    section = re.search(r"\nAttributes\n-+\n(.*?)\n\n\S", inspect.getdoc(cls) + "\n\nx", re.DOTALL)
    rows = re.findall(r"^(\w[\w, ]*_)`* :", section[1], flags=re.MULTILINE) if section else []
    names = {name.strip() for row in rows for name in row.split(",")}
    known = {name for base in cls.__mro__ for name in vars(base).get("__annotations__", ())}
    known |= {name for name in names if isinstance(getattr(cls, name, None), property)}
    assert names <= known
    assert issubclass(cls, BaseEstimator)
