"""Paragraphs of docstrings that several classes share, written once."""

import inspect
import re
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
_PLACE = re.compile(r"^( *)\{(\w+)\}$", flags=re.MULTILINE)


def inserter(**paragraphs: str) -> Callable[[T], T]:
    """Return a decorator that puts these paragraphs where a docstring has ``{name}`` on a line.

    It decorates functions, and classes together with the methods, properties included, that they
    define themselves. The paragraphs are indented as the line is. A name that is not among the
    paragraphs raises a ``KeyError``, so that none is left over unseen.
    """
    paragraphs = {name: inspect.cleandoc(text) for name, text in paragraphs.items()}

    def inserted(docstring):
        def paragraph(place):
            lines = paragraphs[place[2]].splitlines()
            return "\n".join(place[1] + line if line else "" for line in lines)

        return docstring and _PLACE.sub(paragraph, docstring)

    def decorate(item):
        item.__doc__ = inserted(item.__doc__)
        for method in vars(item).values() if inspect.isclass(item) else ():
            function = getattr(method, "__func__", method)  # of a classmethod
            if inspect.isfunction(function) or isinstance(function, property):
                function.__doc__ = inserted(function.__doc__)
        return item

    return decorate
