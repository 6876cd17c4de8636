"""The comparisons as tables, from what was written: `python -m benchmarks.peers.report build/others.json`."""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HEADS = ("question", "asked", "found", "time, times Limpet's")
SIZE_HEADS = ("bytes on disk of the same content", "per event", "times Limpet's")


def page(comparisons: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of all tables, each with its remarks and with who could not take part."""
    for one in comparisons:
        many = f", {one['events']:,} events" if one["events"] else ""
        yield f"\n**{one['title']}{many}**\n"
        yield from (*_scores(one), *_sizes(one)) if one["scores"] else ()
        yield from (f"\nNot compared: {name}. {why}" for name, why in one["missing"].items())


def _scores(one: dict[str, Any]) -> Iterator[str]:
    yield from _row(HEADS)
    yield from _row(["---"] * len(HEADS))
    last = ""
    for score in one["scores"]:
        what = one["questions"][score["question"]]["what"] if score["question"] != last else ""
        last = score["question"]
        yield from _row((what, f"{score['side']}: {score['way']}", _found(score), _times(score["ratios"])))
    for name, said in dict.fromkeys((score["side"], score["said"]) for score in one["scores"] if score["said"]):
        yield f"\n{name}: {said}."


def _found(score: dict[str, Any]) -> str:
    if score["right"] is None:
        return "failed" if score["said"].startswith("failed") else "cannot be asked"
    wrong = f", {score['wrong']:,} wrong" if score["wrong"] else ""
    return f"{score['right']:,} of {score['wanted']:,}{wrong}"


def _times(ratios: list[float]) -> str:
    if not ratios:
        return ""
    return f"{statistics.median(ratios):.2g} ({min(ratios):.2g} to {max(ratios):.2g})"


def _sizes(one: dict[str, Any]) -> Iterator[str]:
    if len(one["sizes"]) < 2:
        return
    yield ""
    yield from _row(SIZE_HEADS)
    yield from _row(["---"] * len(SIZE_HEADS))
    ours = next(iter(one["sizes"].values()))
    for name, size in one["sizes"].items():
        yield from _row((name, f"{size / one['events']:,.0f}", f"{size / ours:.2f}"))


def _row(cells: Iterable[str]) -> Iterator[str]:
    yield f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    print("\n".join(page(json.loads(Path(sys.argv[1]).read_text("utf-8"))["comparisons"])))
