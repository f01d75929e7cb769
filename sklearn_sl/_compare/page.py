"""A page in one file: escaped text, tables that sort, colours for light and dark.

The style and the script are named by their hashes in the content security policy of the page, and
there is nothing else that could be run or fetched.
"""

import base64
import dataclasses
import hashlib
import html
import re

STYLE = """
:root { color-scheme: light dark; --ink: #1c2430; --soft: #566173; --line: #dbe1e8; --paper: #fff;
  --panel: #f4f6f9; --ours: #1a62a5; --theirs: #b2560d; --base: #66707e; --bad: #a3262a;
  --c0: #1a62a5; --c1: #b2560d; --c2: #2b7a3f; --c3: #7b3fa0; --c4: #9a6a00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e9f0; --soft: #a3aebd; --line: #333d4b;
  --paper: #14191f; --panel: #1d242d; --ours: #6db3f2; --theirs: #f0a35e; --base: #a3aebd;
  --bad: #ff8f8f; --c0: #6db3f2; --c1: #f0a35e; --c2: #7fcf95; --c3: #cf9bec; --c4: #e3c15a; } }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 84rem; margin: 0 auto;
  padding: 1rem clamp(.75rem, 3vw, 2rem) 4rem; color: var(--ink); background: var(--paper);
  overflow-wrap: break-word; }
h1, h2, h3 { line-height: 1.25; } h2 { margin-top: 2.5rem; border-bottom: 2px solid var(--line); }
a { color: var(--ours); } .soft, figcaption, caption { color: var(--soft); }
code { background: var(--panel); padding: .1rem .3rem; overflow-wrap: anywhere; }
.verdict { font-size: 1.15rem; border-left: .3rem solid var(--ours); padding: .25rem 1rem;
  background: var(--panel); }
.warning { border-left: .3rem solid var(--theirs); padding: .25rem 1rem; background: var(--panel); }
.scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: .4rem; margin: 1rem 0; }
.scroll:focus-visible, button:focus-visible, a:focus-visible { outline: 3px solid var(--theirs);
  outline-offset: 2px; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
caption { text-align: left; padding: .5rem .6rem; }
th, td { padding: .3rem .6rem; text-align: right; vertical-align: top;
  border-top: 1px solid var(--line); font-variant-numeric: tabular-nums; white-space: nowrap; }
thead th { vertical-align: bottom; background: var(--panel); white-space: normal; }
th.text, td.text { text-align: left; } td.text { white-space: normal; min-width: 7rem; }
tbody th { text-align: left; font-weight: 400; background: var(--paper); position: sticky; left: 0;
  white-space: normal; min-width: 8rem; }
tr.ours th { font-weight: 650; } tr.failed td, tr.failed th { color: var(--bad); }
tr.base td, tr.base th { font-style: italic; } table.narrow { width: auto; }
td small, th small { display: block; color: var(--soft); font-weight: 400; }
small.phone { display: none; }
@media (max-width: 40rem) { th, td { padding: .3rem .4rem; }
  table.libraries tr > :nth-child(2) { display: none; } small.phone { display: block; } }
.scroll:has(> table.narrow) { width: fit-content; max-width: 100%; }
caption span { position: sticky; left: .6rem; display: inline-block;
  max-width: min(100%, calc(100vw - 4rem)); }
th button { font: inherit; color: inherit; background: none; border: 0; padding: 0; cursor: pointer;
  text-align: inherit; text-decoration: underline dotted; text-underline-offset: .2em; }
th[aria-sort=ascending] button::after { content: " \\2191"; }
th[aria-sort=descending] button::after { content: " \\2193"; }
abbr { text-decoration: underline dotted; cursor: help; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 27rem), 1fr));
  gap: 1rem; align-items: start; }
figure { margin: 0; max-width: 42rem;
  border: 1px solid var(--line); border-radius: .4rem; padding: .75rem; }
svg { width: 100%; height: auto; display: block; } svg text { font-size: 12px; fill: var(--ink); }
svg text.small { font-size: 10.5px; } svg .grid { stroke: var(--line); }
svg .line { fill: none; stroke-width: 2; }
svg .ideal { stroke: var(--soft); stroke-dasharray: 5 4; } .pale { opacity: .55; }
""" + "".join(
    f"svg .{kind} {{ stroke: var(--{kind}); }} svg .dot.{kind} {{ fill: var(--{kind}); }}\n"
    for kind in ("ours", "theirs", "base", "c0", "c1", "c2", "c3", "c4")
)
STYLE += """
summary { cursor: pointer; font-weight: 650; margin: 1.5rem 0 .5rem; }
dt { font-weight: 650; } dd { margin: 0 0 .6rem 1rem; }
td.right { font-weight: 650; }
td.much { background: color-mix(in srgb, var(--theirs) 30%, transparent); }
td.some { background: color-mix(in srgb, var(--theirs) 12%, transparent); }
@media print { .scroll { overflow: visible; } }
"""
SCRIPT = """
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  const value = (row, n) => {
    const cell = row.cells[n], number = cell.dataset.value;
    if (number !== undefined) return parseFloat(number);
    return cell.dataset.name || cell.textContent.trim();
  };
  heads.forEach((head, n) => {
    const button = document.createElement("button");
    button.type = "button";
    while (head.firstChild) button.append(head.firstChild);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...body.rows], sign = down ? -1 : 1;
      rows.sort((a, b) => {
        const x = value(a, n), y = value(b, n);
        if (typeof x !== typeof y) return typeof x === "number" ? -1 : 1;
        return sign * (typeof x === "number" ? x - y : x.localeCompare(y));
      });
      body.append(...rows);
    });
  });
}
"""


CAPITAL = re.compile("(?<=[a-z])(?=[A-Z])")  # where the name of a class may be broken


@dataclasses.dataclass(frozen=True)
class Cell:
    """A cell of a table: its text, what it is sorted by, and smaller text below."""

    text: str
    value: float | None = None
    small: str = ""
    title: str = ""
    kind: str = ""


def escaped(text):
    return html.escape(str(text), quote=True)


def tag(name, text, kind=""):
    """Return an element with text in it."""
    attribute = f' class="{escaped(kind)}"' if kind else ""
    return f"<{name}{attribute}>{escaped(text)}</{name}>"


def paragraph(text, kind=""):
    return tag("p", text, kind)


def table(header, rows, caption, *, kinds=None, sortable=True, libraries=False):
    """Return a table in a region that scrolls by itself.

    Parameters
    ----------
    header : list of (name, meaning)
        A column whose name begins with a space is text.
    rows : list of lists of Cell or str
        The first cell names the row.
    caption : str
    kinds : list of str, default=None
        The class of each row.
    sortable : bool
        Whether its header has buttons.
    libraries : bool
        Whether the second column is the library. A narrow screen shows it below the name.
    """
    aligned = ["text" if name.startswith(" ") else "" for name, _ in header]
    head = "".join(
        f'<th scope="col" class="{kind}">{with_meaning(name.strip(), meaning)}</th>'
        for (name, meaning), kind in zip(header, aligned)
    )
    lines = []
    for row, kind in zip(rows, kinds or [""] * len(rows)):
        first, *others = (cell if isinstance(cell, Cell) else Cell(cell) for cell in row)
        below = f'<small class="phone">{escaped(row[1])}</small>' if libraries else ""
        name = escaped(first.text)
        inner = (
            f'<th scope="row" data-name="{name}">{CAPITAL.sub("<wbr>", content(first))}{below}</th>'
        )
        inner += "".join(data_cell(cell, left) for cell, left in zip(others, aligned[1:]))
        lines.append(f'<tr class="{escaped(kind)}">{inner}</tr>')
    name = ("sortable" if sortable else "narrow") + " libraries" * libraries
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escaped(caption)}">'
        f'<table class="{name}"><caption><span>{escaped(caption)}</span></caption>'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n" + "\n".join(lines) + "\n</tbody></table></div>"
    )


def with_meaning(name, meaning):
    return f'<abbr title="{escaped(meaning)}">{escaped(name)}</abbr>' if meaning else escaped(name)


def content(cell):
    small = f"<small>{escaped(cell.small)}</small>" if cell.small else ""
    return with_meaning(cell.text, cell.title) + small


def data_cell(cell, left):
    kinds = " ".join(filter(None, (left, cell.kind)))
    value = "" if cell.value is None else f' data-value="{cell.value!r}"'
    return f'<td class="{escaped(kinds)}"{value}>{content(cell)}</td>'


def folded(title, content):
    """Return something that is shown when its title is opened."""
    return f"<details>{tag('summary', title)}{content}</details>"


def figure(svg, caption):
    return f"<figure>{svg}<figcaption>{escaped(caption)}</figcaption></figure>"


def document(title, body, state="{}"):
    """Return the page."""
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; "
        f"style-src {named(STYLE)}; script-src {named(SCRIPT)}"
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f"<title>{escaped(title)}</title><style>{STYLE}</style></head>\n<body>\n<main>\n"
        + "\n".join(body)
        + f'\n</main>\n<script type="application/json" id="state">{state}</script>\n'
        f"<script>{SCRIPT}</script>\n</body></html>\n"
    )


def named(source):
    """Return the name of an inline style or script in a content security policy."""
    digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
    return f"'sha256-{digest}'"
