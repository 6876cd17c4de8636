"""What a year of a busy agent costs in bytes, from measured figures: arithmetic, no measuring."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.ratio import Figure

A_DAY = 2_000
"""Events of a busy agent's day."""


def told(figures: Sequence[Figure]) -> str:
    """Return in a few sentences what such a year takes up, for one witness, for two, and for the script."""
    sizes = [figure.sides for figure in figures if figure.number == "6"]
    if not sizes:
        return "Not measured."
    (one, two) = ({**sizes[0]}, {**sizes[-1]})
    lines = [
        f"At {A_DAY:,} events a day, as long as those of the traffic:",
        "",
        "| | bytes per event | a year, GB |",
        "|---|---|---|",
    ]
    for name, size in (
        ("one line per event", one["database"] + one["index"]),
        ("all hooks and transcripts, both kept", two["database"] + two["index"]),
        ("of which the text index", two["index"]),
        ("the script, the same content", one["script"]),
    ):
        lines.append(f"| {name} | {size:,.0f} | {size * A_DAY * 365 / 1e9:.2f} |")
    return "\n".join(lines)
