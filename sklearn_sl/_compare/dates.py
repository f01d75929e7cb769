"""Dates in text: how they are written, and numbers to learn from."""

import datetime

import numpy as np

ISO = "ISO 8601"
DAYS = ("%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%Y/%m/%d", "%d-%m-%Y", "%d/%m/%y", "%m/%d/%y")
DAYS += ("%d.%m.%y", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%d-%b-%Y", "%d-%b-%y")
FORMATS = (ISO, *(day + time for day in DAYS for time in ("", " %H:%M", " %H:%M:%S")))
FIRST = 50  # texts that choose among the formats
PARTS = ("days", "month", "weekday", "hour")
EPOCH = datetime.datetime(1970, 1, 1)


def read_date(text, style):
    """Return the moment that a text names; None if it is none in that style."""
    try:
        if style == ISO:
            if len(text) < 8 or "-" not in text:  # a plain number, such as 20200101
                return None
            return datetime.datetime.fromisoformat(text).replace(tzinfo=None)
        return datetime.datetime.strptime(text, style)
    except ValueError:
        return None


def styles_of(texts, few):
    """Return the styles in which all but a share ``few`` of the texts are dates."""
    if not any(letter.isdigit() for letter in texts[0]):
        return []
    found = []
    for style in FORMATS:
        for part in (texts[:FIRST], texts):
            if sum(read_date(text, style) is None for text in part) > few * len(part):
                break
        else:
            found.append(style)
    return found


def part_of(text, style, part):
    """Return a number of a date: days since 1970, month, weekday from Monday on, or hour."""
    date = read_date(text, style)
    if date is None:
        return np.nan
    if part == "days":
        return (date - EPOCH).total_seconds() / 86400
    if part == "weekday":
        return float(date.weekday())
    return float(getattr(date, part))
