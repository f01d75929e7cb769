"""Every public signature and every documented fitted attribute has a type."""

import ast
import dataclasses
import functools
import inspect
import re
import textwrap

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


@functools.cache
def attributes_set_by(cls):
    """Return the names of attributes that the methods of a class itself assign to."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        if isinstance(node.value, ast.Name) and node.value.id == "self"
    }


def lost_types(cls):
    """Yield attributes that a class sets whose type is known only from one of its bases.

    A type checker takes the assignment, in a method without types, for another definition.
    """
    ours = [base for base in cls.__mro__ if base.__module__.startswith(("sklearn_sl.", __name__))]
    for place, base in enumerate(ours):
        for name in vars(base).get("__annotations__", ()):
            before = ours[: place + 1]
            declared = [name in vars(each).get("__annotations__", ()) for each in before]
            if any(name in attributes_set_by(each) for each in before[: declared.index(True)]):
                yield name


@pytest.mark.parametrize("cls", all_estimators(), ids=lambda cls: cls.__name__)
def test_no_class_hides_the_type_of_an_attribute_that_it_sets(cls):
    assert not list(lost_types(cls))


def test_a_hidden_type_is_found():
    class Base:
        known_: int
        hidden_: int

    class Derived(Base):
        def fit(self):
            self.hidden_ = 1

    assert list(lost_types(Derived)) == ["hidden_"]
