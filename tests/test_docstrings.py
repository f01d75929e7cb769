"""Paragraphs that several docstrings share are inserted in full."""

import inspect
import re

import pytest

from sklearn_sl._discovery import public_objects
from sklearn_sl._docstrings import inserter

PUBLIC = public_objects()
document = inserter(
    samples="""
        X : array-like
            Samples.

            Any number.
        """
)


@document
class Documented:
    """A class.

    Parameters
    ----------
    {samples}
    """

    def fit(self, X):
        """Fit.

        {samples}
        """

    @property
    def value(self):
        """{braces} within a line stay."""

    @classmethod
    def make(cls):
        """Make.

        {samples}
        """

    def silent(self): ...


def test_paragraph_is_indented_like_the_place_where_it_is_inserted():
    text = "X : array-like\n    Samples.\n\n    Any number."
    assert inspect.getdoc(Documented) == f"A class.\n\nParameters\n----------\n{text}"
    assert inspect.getdoc(Documented.fit) == inspect.getdoc(Documented.make).replace("Make", "Fit")
    assert inspect.getdoc(Documented.fit) == f"Fit.\n\n{text}"
    assert Documented.value.__doc__ == "{braces} within a line stay."
    assert Documented.silent.__doc__ is None


def test_unknown_paragraph_is_an_error():
    def function():
        """Do.

        {unknown}
        """

    with pytest.raises(KeyError, match="unknown"):
        document(function)


@pytest.mark.parametrize("name", PUBLIC)
def test_no_place_is_left_open(name):
    item = PUBLIC[name]
    methods = [getattr(item, part) for part in dir(item)] if inspect.isclass(item) else []
    for each in [item, *methods]:
        assert not re.search(r"^ *\{\w+\}$", getattr(each, "__doc__", "") or "", re.MULTILINE)
