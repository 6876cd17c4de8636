"""When somebody is told, how often, and on what way; the clock is the test's, the commands are real."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from lab import NOON, Lab
from limpet import messenger
from limpet.alarm import Alarm, Message
from limpet.errors import BadInput
from limpet.runtimes.openclaw import route

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

AFTER_S, MINUTE_S = 300, 60
DEAD = {"stopped": "The plugin was stopped. -> openclaw gateway restart"}
FULL = {"spool": "No space left on device. -> Make room."}
WELL: Mapping[str, str] = {}
PEN = """#!/bin/sh
for last; do :; done
printf '%s %s %s\\n' "$LIMPET_ALARM_STATE" "$#" "$last" >> "$HOME/told"
[ "$last" = "$LIMPET_ALARM" ]
"""


class Minutes:
    """An alarm that is looked at once a minute; `said` is what was told, with its minute."""

    def __init__(self, home: Path) -> None:
        """Keep what is known in this folder, as the watch does."""
        self.home = home
        self.said: list[tuple[int, str]] = []
        self.minute = 0

    def look(self, *broken: Mapping[str, str], reached: bool = True) -> None:
        """Look once for each of these minutes; the alarm is read again each time, as after a restart."""
        for now in broken:
            alarm, now_ms = Alarm.read(self.home), NOON + self.minute * MINUTE_S * 1000
            message = alarm.look(now, MINUTE_S if self.minute else 0, AFTER_S, now_ms)
            if message is not None and reached:
                alarm.delivered(message, now, now_ms)
                self.said.append((self.minute, message.text))
            alarm.write(self.home)
            self.minute += 1

    @property
    def when(self) -> list[tuple[int, str]]:
        """The minutes, with `alarm` or `clear`."""
        return [(minute, "clear" if "well again" in text else "alarm") for minute, text in self.said]


@pytest.fixture
def minutes(tmp_path: Path) -> Minutes:
    """Return an alarm that knows nothing yet."""
    return Minutes(tmp_path)


def test_five_minutes_of_trouble_are_one_alarm_and_one_all_clear(minutes: Minutes):
    """Not before, not again, and the all-clear once all was well for as long; each look is another process."""
    minutes.look(*[DEAD] * 60, *[WELL] * 60)
    assert minutes.said == [
        (5, "Limpet: The plugin was stopped. -> openclaw gateway restart"),
        (64, "Limpet: all is well again. It was: The plugin was stopped. -> openclaw gateway restart"),
    ]


def test_trouble_that_passes_sooner_is_no_alarm(minutes: Minutes):
    """Four minutes, then an hour without."""
    minutes.look(*[DEAD] * 5, *[WELL] * 60, *[DEAD] * 4)
    assert minutes.said == []


def test_several_breaks_are_one_alarm_that_names_them(minutes: Minutes):
    """The second is named although it has not lasted as long, and is not told again."""
    minutes.look(*[DEAD] * 4, *[{**DEAD, **FULL}] * 30)
    (said,) = minutes.said
    assert said == (5, f"Limpet: 2 things are broken. (1) {DEAD['stopped']} (2) {FULL['spool']}")


def test_another_break_that_lasts_is_told_too(minutes: Minutes):
    """Who knows of the one does not know of the other."""
    minutes.look(*[DEAD] * 20, *[{**DEAD, **FULL}] * 20)
    assert minutes.when == [(5, "alarm"), (25, "alarm")]


def test_what_comes_and_goes_is_one_alarm_and_no_all_clear(minutes: Minutes):
    """Broken for two minutes, well for two, for ten hours."""
    minutes.look(*[DEAD, DEAD, WELL, WELL] * 150)
    assert [kind for _, kind in minutes.when] == ["alarm"]


def test_each_alarm_of_a_day_makes_the_next_all_clear_slower(minutes: Minutes):
    """Ten minutes broken, ten minutes well, for a day: the third all-clear would take twenty minutes."""
    minutes.look(*([DEAD] * 10 + [WELL] * 10) * 72)
    kinds = [kind for _, kind in minutes.when]
    assert kinds == ["alarm", "clear", "alarm", "clear", "alarm"]


def test_an_alarm_that_reached_nobody_is_raised_again(minutes: Minutes):
    """It counts as told only when a way took it."""
    minutes.look(*[DEAD] * 10, reached=False)
    minutes.look(DEAD)
    assert minutes.when == [(10, "alarm")]


@pytest.mark.parametrize("jump_ms", [-86_400_000, 86_400_000])
def test_a_clock_that_jumps_raises_nothing_and_silences_nothing(tmp_path: Path, jump_ms: int):
    """What counts is time that passed, not what the clock on the wall says."""
    alarm = Alarm.read(tmp_path)
    told = [alarm.look(DEAD, MINUTE_S, AFTER_S, NOON + (jump_ms if n > 2 else 0) + n) for n in range(7)]
    assert [message is not None for message in told] == [False] * 5 + [True] * 2


@pytest.mark.parametrize("kept", [b"", b"[]", b'{"troubles": 5}', b'{"troubles": {"a": {"b": 1}}, "raised_ms": []}'])
def test_a_state_that_cannot_be_read_is_none(tmp_path: Path, kept: bytes):
    """A file cut off or written by somebody else costs at most a second alarm."""
    (tmp_path / "alarm.json").write_bytes(kept)
    assert Alarm.read(tmp_path) == Alarm()


def test_a_message_has_a_bounded_length_and_no_control_character():
    """What a source said may be long and hostile."""
    alarm = Alarm()
    alarm.look({"a": "x\x1b[31m\n" * 5000}, 0, 0, NOON)
    message = alarm.look({"a": "x\x1b[31m\n" * 5000}, 1, 0, NOON)
    assert message is not None
    assert len(message.text) <= 1200
    assert message.text.isprintable()


def write_program(folder: Path, name: str, text: str = PEN) -> None:
    """Put a program of this name into a folder."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    (folder / name).chmod(0o700)


def configure(lab: Lab, *lines: str) -> None:
    """Write `config.toml`."""
    lab.home.mkdir(parents=True, exist_ok=True)
    (lab.home / "config.toml").write_text("\n".join(lines))


def test_the_users_own_command_alone_is_run_where_there_is_one(lab: Lab):
    """Its words are split as a shell would, but no shell reads them; the sentence is the last one."""
    configure(lab, """on_alarm = "'my pager' --to me $HOME" """)
    assert messenger.ways(lab.settings, ("telegram", "telegram:42", "")) == [["my pager", "--to", "me", "$HOME"]]


def test_without_one_a_channel_of_openclaws_comes_first_and_the_agent_last(lab: Lab, monkeypatch: pytest.MonkeyPatch):
    """A desktop where there is one; the agent's main session is always there."""
    monkeypatch.setenv("DISPLAY", ":0")
    to = ["--channel", "telegram", "--target", "telegram:42", "--account", "work"]
    event = ["openclaw", "system", "event", "--mode", "next-heartbeat", "--text"]
    desktop = ["notify-send", "--urgency=critical", "--app-name=Limpet", "Limpet"]
    assert messenger.ways(lab.settings, ("telegram", "telegram:42", "work")) == [
        ["openclaw", "message", "send", *to, "--message"],
        desktop,
        event,
    ]
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS"):
        monkeypatch.delenv(name, raising=False)
    assert messenger.ways(lab.settings, None) == [event]


@pytest.mark.parametrize("line", ['on_alarm = "a \'b"', 'on_alarm = " "', "alarm_after_s = -1"])
def test_a_wrong_alarm_setting_is_refused(lab: Lab, line: str):
    """With a sentence that names it."""
    configure(lab, line)
    with pytest.raises(BadInput, match=line.partition(" ")[0]):
        _ = lab.settings


def test_the_first_way_that_works_is_taken(lab: Lab, monkeypatch: pytest.MonkeyPatch):
    """One that is not there and one that fails are passed over, and those after it are not asked."""
    write_program(lab.folder / "bin", "good way")
    write_program(lab.folder / "bin", "bad", "#!/bin/sh\nexit 3\n")
    monkeypatch.setenv("HOME", str(lab.folder))
    good = [str(lab.folder / "bin" / "good way"), "--to", "me"]
    found = [["/no/such/program"], [str(lab.folder / "bin" / "bad")], good, good]
    took = messenger.deliver(lab.settings, found, Message("Limpet: it's «broken»; $(rm -rf /)", clear=True))
    assert took == good[0]
    assert (lab.folder / "told").read_text() == "clear 3 Limpet: it's «broken»; $(rm -rf /)\n"


def test_where_no_way_works_nobody_was_told(lab: Lab):
    """And that is said."""
    assert messenger.deliver(lab.settings, [["/no/such/program"], ["false"]], Message("x")) == ""


def session(key: str, at: int, **changes: Any) -> tuple[str, str]:
    """Return a row of OpenClaw's session_nodes: a direct conversation on Telegram, with changes."""
    context = {"channel": "telegram", "to": f"telegram:{key}", "accountId": "default"}
    entry = {"lastInteractionAt": at, "chatType": "direct", "createdActor": {"type": "human"}}
    return key, json.dumps({**entry, "delivery": {"kind": "external", "context": context}, **changes})


def agent(lab: Lab, name: str, rows: Iterable[tuple[str, str]]) -> None:
    """Make an agent's database with these sessions."""
    folder = lab.state / "agents" / name / "agent"
    folder.mkdir(parents=True)
    with closing(sqlite3.connect(folder / "openclaw-agent.sqlite")) as database, database:
        database.execute("CREATE TABLE session_nodes (session_key TEXT PRIMARY KEY, entry_json TEXT)")
        database.executemany("INSERT INTO session_nodes VALUES (?, ?)", rows)


def test_the_alarm_goes_where_somebody_last_spoke_with_an_agent_alone(lab: Lab):
    """Of all agents the newest direct conversation; no group, no session without a person, nothing broken."""
    odd: list[tuple[str, str]] = [
        session("group", 90, chatType="group"),
        session("cron", 91, createdActor={"type": "system"}),
        session("web", 92, delivery={"kind": "internal"}),
        session("none", 93, delivery={"kind": "external", "context": None}),
        session("option", 94, delivery={"kind": "external", "context": {"channel": "x", "to": "--version"}}),
        ("broken", "{"),
    ]
    agent(lab, "main", [session("1", 10), session("2", 30), *odd])
    agent(lab, "other", [session("3", 20)])
    assert route.last(lab.state, NOON) == ("telegram", "telegram:2", "default")


def test_without_such_a_conversation_there_is_no_channel(lab: Lab):
    """No agent, no database, one that is damaged, or one of another schema."""
    assert route.last(lab.state, NOON) is None
    agent(lab, "main", [])
    other = lab.state / "agents" / "other" / "agent"
    other.mkdir(parents=True)
    (other / "openclaw-agent.sqlite").write_bytes(b"no database at all" * 100)
    assert route.last(lab.state, NOON) is None
