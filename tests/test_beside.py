"""What goes on beside the recorder: where it ends, hangs or fails, `status`, `doctor` and the alarm say so."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from lab import Lab, call, ended, until
from limpet import beside, clock
from limpet.alarm import Alarm
from limpet.beside import Beside
from test_watch import prepare

TESTS = Path(__file__).parent
RUN = """
import sys
from limpet import settings, sidecar
sidecar.NOTES_S = 0.1
sidecar.RETRY_UPKEEP_S = 0.1
{}
sidecar.Sidecar(settings.load(), lambda line: print(line, file=sys.stderr)).run(until_eof=False)
"""
DIES = "sidecar.copies.nightly = lambda *_: 1 / 0"
HANGS = "import threading; from limpet import beside; beside.HANGS_S = 0.2; sidecar.copies.nightly = lambda *_: threading.Event().wait()"


def configure(lab: Lab, *more: str) -> None:
    """Want a copy each day, and somebody told after a second."""
    prepare(lab)
    with (lab.home / "config.toml").open("a") as file:
        file.write("\n".join(["", f'backups = "{lab.folder}/copies"', *more, ""]))


@pytest.mark.parametrize(("change", "said"), [(DIES, "upkeep"), (HANGS, "hangs"), ("", "cannot be done")])
def test_upkeep_that_dies_hangs_or_fails_is_a_break(lab: Lab, change: str, said: str):
    """Recording goes on; the reason is told at the socket, by status and doctor, and to a person."""
    lab.take([call("c-1")])
    configure(lab)
    if not change:
        (lab.folder / "copies").write_text("a file where a folder should be")
    process = lab.code_started(RUN.format(change))
    try:
        until(lambda: said in str(lab.asked(op="hello").get("beside")), "it is known")
        lab.spool([call("c-2")], segment=2)
        until(lambda: len(lab.events("tool_call")) == 2, "recording goes on")
        status, doctor = lab.limpet("status", "--json"), lab.limpet("doctor")
        until(lambda: any(said in one for one in Alarm.read(lab.home).told), "somebody is told")
    finally:
        process.terminate()
        ended(process)
    assert (status.status, [one["code"] for one in status.json["breaks"]]) == (5, ["beside"])
    assert said in status.json["sentence"]
    assert (doctor.status, "The broken link is: recorder" in doctor.out, said in doctor.out) == (5, True, True)


def test_upkeep_that_could_not_be_done_and_then_could_is_no_break_any_more(lab: Lab):
    """The folder is there in the end: the copy is made, and nothing is said any more."""
    lab.take([call("c-1")])
    configure(lab)
    (lab.folder / "copies").write_text("in the way")
    process = lab.code_started(RUN.format(""))
    try:
        until(lambda: "cannot be done" in str(lab.asked(op="hello").get("beside")), "it is known")
        (lab.folder / "copies").unlink()
        until(lambda: lab.asked(op="hello").get("beside") == [], "it went well")
    finally:
        process.terminate()
        ended(process)
    assert len(list((lab.folder / "copies").glob("*.db"))) == 1


def test_a_work_that_ends_by_itself_is_named_until_the_end(monkeypatch: pytest.MonkeyPatch):
    """With its fault where it has one; not once everything is to end; one that is long at a piece hangs."""
    said: list[str] = []
    stop, go = threading.Event(), threading.Event()
    works = Beside(stop, said.append)
    works.start("watch", lambda: None).join()
    works.start("briefs", lambda: {}["x"]).join()  # type: ignore[misc]

    def long() -> None:
        with works.piece("notes"):
            go.wait()

    thread = works.start("notes", long)
    assert [*works.troubles()] == said == [
        "The watch ended by itself.",
        "The briefs ended by itself. Limpet made a mistake (KeyError: 'x').",
    ]  # fmt: skip
    later_s = clock.monotonic_s() + beside.HANGS_S + 60
    monkeypatch.setattr(clock, "monotonic_s", lambda: later_s)
    assert works.troubles()[-1] == "The notes hangs: it has been at one piece of work for 3.0 hours."
    stop.set()
    go.set()
    thread.join()
    assert works.troubles() == ()
