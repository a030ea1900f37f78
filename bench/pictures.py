#!/usr/bin/env python3
"""The pictures of docs/performance.md, made from the tables of that page.

    pictures.py [--check]

One SVG file for each picture, in docs/pictures. With --check nothing is written: status 1 when one differs from what the
tables give.
"""
import html
import math
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs", "performance.md")
FOLDER = os.path.join(ROOT, "docs", "pictures")

# Layout, in pixels.
WIDTH, LEFT, RIGHT, TOP, BOTTOM = 860, 290, 60, 84, 40
BAR, GAP = 11, 12

INK, SOFT, GRID, PAPER = "#1f2328", "#59636e", "#d9dee3", "#ffffff"
OURS, OURS_TOO = "#1b6ac9", "#7fb0ea"
PEERS = ["#8a939c", "#d9822b", "#2f9e75"]


def number(cell):
    """The first number of a cell, or None for one that has none."""
    m = re.match(r"-?\d+(?:\.\d+)?", cell)
    return float(m.group()) if m else None


def table(head):
    """The rows of the table of the page whose first column is headed so: (names of the columns, [cells])."""
    with open(PAGE) as f:
        lines = f.read().split("\n")
    for i, line in enumerate(lines):
        if line.startswith("| %s |" % head):
            rows = []
            for row in lines[i + 2:]:
                if not row.startswith("|"):
                    break
                rows.append([c.strip() for c in row.strip().strip("|").split("|")])
            return [c.strip() for c in line.strip().strip("|").split("|")], rows
    sys.exit("docs/performance.md has no table headed %r" % head)


class Scale:
    """A logarithmic scale from one power of ten to another."""

    def __init__(self, values):
        self.low = math.floor(math.log10(min(values)))
        self.high = max(math.ceil(math.log10(max(values))), self.low + 1)

    def x(self, value):
        share = (math.log10(max(value, 10 ** self.low)) - self.low) / (self.high - self.low)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def marks(self):
        return [10.0 ** e for e in range(self.low, self.high + 1)]


def shown(value):
    return "%d" % value if value >= 100 or value == int(value) else "%.2g" % value


def text(x, y, what, size=12, colour=INK, anchor="start", weight="normal"):
    return '<text x="%.1f" y="%.1f" font-size="%d" fill="%s" text-anchor="%s" font-weight="%s">%s</text>' % (
        x, y, size, colour, anchor, weight, html.escape(what))


def bars(title, unit, series, groups):
    """Groups of bars: series are (name, colour), groups [(label, [a value or None for each series])]."""
    scale = Scale([v for _, values in groups for v in values if v])
    height = TOP + sum(GAP + BAR * len(series) for _ in groups) + BOTTOM
    foot = height - BOTTOM + 4
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="Helvetica, Arial, sans-serif" role="img">' % (WIDTH, height),
           "<title>%s</title>" % html.escape(title), '<rect width="100%%" height="100%%" fill="%s"/>' % PAPER,
           text(16, 28, title, 16, weight="bold"), text(16, 48, unit, 12, SOFT)]
    x = 16
    for name, colour in series:
        out.append('<rect x="%.1f" y="59" width="11" height="11" fill="%s"/>' % (x, colour))
        out.append(text(x + 16, 69, name))
        x += 40 + 6.6 * len(name)
    for mark in scale.marks():
        out.append('<line x1="%.1f" x2="%.1f" y1="%d" y2="%d" stroke="%s"/>' % (scale.x(mark), scale.x(mark), TOP, foot, GRID))
        out.append(text(scale.x(mark), foot + 16, shown(mark), 11, SOFT, "middle"))
    y = TOP + GAP / 2
    for label, values in groups:
        out.append(text(LEFT - 10, y + BAR * len(series) / 2 + 4, label, 12, INK, "end"))
        for i, value in enumerate(values):
            if value is not None:
                out.append('<rect x="%d" y="%.1f" width="%.1f" height="%d" fill="%s"/>' % (
                    LEFT, y + i * BAR, max(scale.x(value) - LEFT, 1), BAR - 1, series[i][1]))
                out.append(text(max(scale.x(value), LEFT + 1) + 4, y + i * BAR + 9, shown(value), 9, SOFT))
        y += GAP + BAR * len(series)
    return "\n".join(out + ["</svg>", ""])


def queries():
    head, rows = table("query")
    return bars("Queries in SQL", "milliseconds, logarithmic; shorter is faster", list(zip(head[1:5], [OURS] + PEERS)),
                [(r[0], [number(c) for c in r[1:5]]) for r in rows])


def requests():
    head, rows = table("requests/s")
    series = [("catalog, root", OURS), ("catalog, namespace", OURS_TOO)] + list(zip(("plain directories", "manifest table", "SeaweedFS"), PEERS))
    columns = [head.index(name) for name, _ in series]
    return bars("Requests over REST", "requests a second, logarithmic; longer is faster", series,
                [(r[0], [number(r[c]) for c in columns]) for r in rows])


def decode():
    _, rows = table("encoding")
    newest = {}
    for r in rows:
        newest[r[0]] = (r[1], [number(r[3]), number(r[4])])
    return bars("Decode speed", "MB of Arrow data a second of one core, logarithmic; longer is faster", [("library", OURS), ("pylance", PEERS[1])],
                [("%s (%s)" % (name, version), values) for name, (version, values) in newest.items()])


PICTURES = {"queries.svg": queries, "rest.svg": requests, "decode.svg": decode}


def main():
    stale = []
    for name, make in PICTURES.items():
        path = os.path.join(FOLDER, name)
        made = make()
        if "--check" not in sys.argv[1:]:
            os.makedirs(FOLDER, exist_ok=True)
            with open(path, "w") as f:
                f.write(made)
        elif not os.path.exists(path) or open(path).read() != made:
            stale.append(name)
    for name in stale:
        print("docs/pictures/%s differs from what docs/performance.md says: run bench/pictures.py" % name)
    sys.exit(1 if stale else 0)


if __name__ == "__main__":
    main()
