#!/usr/bin/env python3
"""Draws how close each program comes to the floor of forward and backward, as an SVG.

python3 plot.py results.json benchmarks.svg
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from measure import median
from report import Measurements

COLOURS = ("#0b6e4f", "#d1495b", "#edae49", "#3066be")
WIDTH, PANEL, LEFT, TOP, BASE = 900, 240, 50, 60, 40
STYLE = (
    "text{font:12px sans-serif;fill:#555}.title{font-size:14px;fill:#222}"
    "@media(prefers-color-scheme:dark){text{fill:#aaa}.title{fill:#eee}}"
)


def text(x: float, y: float, words: str, anchor: str = "middle", kind: str = "") -> str:
    attribute = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{attribute}>{words}</text>\n'


def panel(m: Measurements, dtype: str, top: float) -> str:
    cases = m.cases(dtype)
    height = PANEL - TOP - BASE
    bottom = top + TOP + height
    svg = text(LEFT, top + 34, f"Forward and backward, {dtype}: percentage of the floor", "start", "title")
    for percent in (0, 25, 50, 75, 100):
        y = bottom - height * percent / 100
        svg += f'<path d="M{LEFT} {y:.1f}H{WIDTH - 10}" stroke="#888" stroke-width="{1 if percent == 0 else 0.3}"/>\n'
        svg += text(LEFT - 6, y + 4, f"{percent}", "end")
    group = (WIDTH - LEFT - 10) / max(len(cases), 1)
    bar = 0.8 * group / len(m.titles)
    for i, case in enumerate(cases):
        left = LEFT + (i + 0.1) * group
        svg += text(LEFT + (i + 0.5) * group, bottom + 18, f"{case.batch}, {case.seq}")
        for j, title in enumerate(m.titles):
            if title not in m.by_case[case]:
                continue
            milliseconds = median(m.by_case[case][title]["times"]["forward_backward"])
            share = m.floor(case, "forward_backward") / milliseconds
            tall = height * min(share, 1.05)
            svg += (
                f'<rect x="{left + j * bar:.1f}" y="{bottom - tall:.1f}" width="{0.92 * bar:.1f}" '
                f'height="{tall:.1f}" fill="{COLOURS[j % len(COLOURS)]}"><title>{title}: {milliseconds:.1f} ms, '
                f"{100 * share:.0f} %</title></rect>\n"
            )
    return svg


def draw(results: dict) -> str:
    m = Measurements(results)
    height = 30 + PANEL * len(m.dtypes())
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}">\n'
    svg += f"<style>{STYLE}</style>\n"
    for j, title in enumerate(m.titles):
        x = LEFT + 190 * j
        svg += f'<rect x="{x}" y="10" width="12" height="12" fill="{COLOURS[j % len(COLOURS)]}"/>\n'
        svg += text(x + 18, 20, title, "start")
    for i, dtype in enumerate(m.dtypes()):
        svg += panel(m, dtype, 20 + i * PANEL)
    return svg + "</svg>\n"


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(draw(json.loads(Path(sys.argv[1]).read_text())))
