"""Small pictures as text: SVG that follows the colours and the fonts of its page.

No element has a style of its own, so that a page may forbid inline styles; colours are classes of
the style sheet of the page, in light and in dark.
"""

import html
import math

LETTER = 7.6  # pixels, of a wide font
LINE = 17


def escaped(text):
    return html.escape(str(text), quote=True)


def element(name, content="", **attributes):
    """Return an element; underscores in the names of attributes become hyphens."""
    parts = [name]
    for key, value in attributes.items():
        number = f"{value:.1f}" if isinstance(value, float) else value
        parts.append(f'{key.rstrip("_").replace("_", "-")}="{escaped(number)}"')
    return f"<{' '.join(parts)}>{content}</{name}>"


def text(x, y, words, anchor="start", **attributes):
    return element("text", escaped(words), x=x, y=y, text_anchor=anchor, **attributes)


def told(shape, words):
    """Return a shape that says what it is when the pointer is on it."""
    return element("g", element("title", escaped(words)) + shape)


class Axis:
    """A scale from data to the picture, linear or logarithmic, with round numbers as ticks."""

    def __init__(self, low, high, start, end, log=False):
        if not high > low:
            low, high = (low / 2, high * 2) if log else (low - 0.5, high + 0.5)
        self.log, self.start, self.end = log, start, end
        self.low, self.high = (math.log10(low), math.log10(high)) if log else (low, high)

    def __call__(self, value):
        value = math.log10(value) if self.log else value
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    @property
    def ticks(self):
        if self.log:
            factors = (1,) if self.high - self.low > 2.5 else (1, 2, 5)
            powers = range(math.floor(self.low), math.floor(self.high) + 1)
            values = [factor * 10.0**power for power in powers for factor in factors]
            values = [value for value in values if self.low <= math.log10(value) <= self.high]
            return values[:: max(1, len(values) // 5)]
        power = 10.0 ** math.floor(math.log10((self.high - self.low) / 6))
        step = next(power * m for m in (1, 2, 5, 10) if (self.high - self.low) / (power * m) <= 6)
        first = math.ceil(self.low / step - 1e-9)
        return [number * step for number in range(first, math.floor(self.high / step + 1e-9) + 1)]


def number(value):
    """Return a number in few letters."""
    return f"{value:.6g}" if abs(value) < 1e6 else f"{value:.2g}"


class Figure:
    """A picture with axes, a title and a description for those who do not see it.

    ``entries`` are the kinds of lines and dots, each with its name, for the legend.
    """

    def __init__(self, title, description, *, entries=(), height=280, left=52):
        self.title, self.description = title, description
        self.width, self.height = 460, height + LINE * len(entries)
        self.left, self.right = left, self.width - 14
        self.top, self.bottom = 12 + LINE * len(entries), self.height - 44
        self.shapes = []
        for place, (kind, words) in enumerate(entries):  # above the axes, where nothing is drawn
            at = 16 + LINE * place
            self.add(element("circle", cx=left + 5, cy=at - 4, r=5, class_=f"dot {kind}"))
            self.add(text(left + 16, at, words))

    def add(self, shape):
        self.shapes.append(shape)

    def x_axis(self, low, high, label, log=False, tick=number):
        self.x = Axis(low, high, self.left, self.right, log)
        for value in self.x.ticks:
            at = self.x(value)
            line = {"x1": at, "x2": at, "y1": self.top, "y2": self.bottom}
            self.add(element("line", class_="grid", **line))
            self.add(text(at, self.bottom + 16, tick(value), "middle"))
        self.add(text((self.left + self.right) / 2, self.height - 8, label, "middle"))

    def y_axis(self, low, high, label, tick=number):
        self.y = Axis(low, high, self.bottom, self.top)
        for value in self.y.ticks:
            at = self.y(value)
            line = {"x1": self.left, "x2": self.right, "y1": at, "y2": at}
            self.add(element("line", class_="grid", **line))
            self.add(text(self.left - 6, at + 4, tick(value), "end"))
        middle = (self.top + self.bottom) / 2
        turned = f"rotate(-90 12 {middle:.1f})"
        self.add(text(12, middle, label, "middle", transform=turned))

    def polyline(self, xs, ys, kind):
        points = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in zip(xs, ys))
        self.add(element("polyline", points=points, class_=f"line {kind}"))

    def dot(self, x, y, kind, words, radius=4):
        mark = element("circle", cx=self.x(x), cy=self.y(y), r=radius, class_=f"dot {kind}")
        self.add(told(mark, words))

    def render(self):
        """Return the picture."""
        names = element("title", escaped(self.title)) + element("desc", escaped(self.description))
        box = f"0 0 {self.width} {self.height}"
        return element(
            "svg", names + "".join(self.shapes), viewBox=box, role="img", aria_label=self.title
        )
