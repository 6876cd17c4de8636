"""Has a model word a note, where that is wanted: it gets the plan and nothing else, and its text is checked.

Whatever it answers, there is a text: the deterministic one, with the reason. Not for the list below it, which no model
ever words.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from limpet import clock, settings, text
from limpet.deeds.quoting import code, plain
from limpet.errors import LimpetError, Unavailable
from limpet.note import asking, checking, framing, wording
from limpet.note.spending import Draft, Purse
from limpet.redact import Redactor

if TYPE_CHECKING:
    from limpet.note.asking import Asker, Reply
    from limpet.note.plan import Plan
    from limpet.settings import Settings

MOST_TRIES = 3
"""In so many nights a model is asked for the same note; then it stays as it is."""


@dataclass(frozen=True, slots=True)
class Worded:
    """A paragraph, who worded it (`model` or `rules`), and where a model was wanted and is not in it, why.

    `tokens_in` and `tokens_out` are what asking cost, also where the answer was refused; not `exact`: a guess by size.
    """

    text: str
    by: str = "rules"
    reason: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    model: str = ""
    exact: bool = False

    @property
    def marked(self) -> str:
        """The paragraph as it stands in a note: with who worded it and what that cost, on one line of Markdown."""
        if self.by == "model":
            who = code(self.model or "a model")
            return f"{self.text} *(Worded by {who}, checked against the events; {self.cost}.)*"
        if self.reason:
            return f"{self.text} *(Without model text: {plain(self.reason, 160)}.)*"
        return self.text

    def in_a_note(self, plan: Plan) -> str:
        """Return the paragraph for `wording.body`: a model's words stand between our totals and what was not seen."""
        return wording.around(plan, self.marked) if self.by == "model" else self.marked

    @property
    def cost(self) -> str:
        """What it cost, in words."""
        about = "" if self.exact else "about "
        return f"{about}{self.tokens_in:,} tokens in, {self.tokens_out:,} out"


def worded(plan: Plan, paragraph: str, asker: Asker) -> Worded:
    """Return the model's wording of the plan where it is right, else the deterministic `paragraph` with the reason."""
    given, lacks = framing.chosen(plan)
    if lacks:
        return Worded(paragraph, reason=lacks)
    return _judged(given, paragraph, asker, framing.framed(given, clock.token()))


class Drafter:
    """Words notes as the settings want it, within each night's budget, and asks again only where something is new."""

    def __init__(self, chosen_settings: Settings, asker: Asker | None = None) -> None:
        """Ask the model that the settings name; `asker` stands in for it."""
        self._settings = chosen_settings
        self._asker = asker if asker is not None else asker_of(chosen_settings)
        self._purse = Purse(chosen_settings.home)

    def worded(self, plan: Plan, paragraph: str, night: str) -> Worded:
        """Word the plan in this night (an ISO date), or return the `paragraph` and the reason; raises no LimpetError.

        A text that was accepted is used again as long as plan and settings are the same. A model that did not answer
        well is asked again in another night.
        """
        if self._asker is None:
            return Worded(paragraph)
        try:
            return self._kept(plan, paragraph, night) or self._asked(plan, paragraph, night, self._asker)
        except LimpetError as error:
            return Worded(paragraph, reason=_sentence(error))

    def to_try_again(self, night: str) -> list[tuple[str, str]]:
        """Return (day, agent) of the notes that a model failed to word in earlier nights, a few times at most."""
        drafts = self._purse.read().drafts if self._asker is not None else ()
        failed = (one for one in drafts if one.by == "rules" and one.night < night and one.tries < MOST_TRIES)
        return [(one.day, one.agent) for one in failed]

    def _kept(self, plan: Plan, paragraph: str, night: str) -> Worded | None:
        draft = self._purse.read().draft(framing.day(plan), plan.agent)
        if draft is None or draft.stamp != self._stamp(plan):
            return None
        if draft.by == "rules":
            return _from(draft, paragraph) if draft.night == night else None
        return _from(draft, draft.text) if not checking.fault(draft.text, framing.chosen(plan)[0]) else None

    def _asked(self, plan: Plan, paragraph: str, night: str, asker: Asker) -> Worded:
        given, lacks = framing.chosen(plan)
        data = framing.framed(given, clock.token())
        reserved = framing.tokens_of(framing.ORDER + data) + asking.MOST_TOKENS
        budget = self._settings.note_token_budget
        if not lacks and not self._purse.reserve(night, reserved, budget):
            lacks = f"this night's budget of {budget:,} tokens is used up"
        if lacks:
            done = Worded(paragraph, reason=lacks)
            self._note_down(done, plan, night, 0, MOST_TRIES)
            return done
        done = _judged(given, paragraph, asker, data)
        # What an answer cost that never came, nobody knows: the night's budget has it in full.
        self._note_down(done, plan, night, reserved if done.tokens_in else 0, 1)
        return done

    def _note_down(self, done: Worded, plan: Plan, night: str, reserved: int, tries: int) -> None:
        stamp, before = self._stamp(plan), self._purse.read().draft(framing.day(plan), plan.agent)
        again = before.tries if before is not None and before.stamp == stamp and before.by == "rules" else 0
        self._purse.note_down(_draft(done, plan, stamp, night, again + tries), reserved)

    def _stamp(self, plan: Plan) -> str:
        facts = [(one.kind, one.words, one.events, one.also) for one in plan.statements]
        model = (self._settings.note_model, self._settings.note_model_name)
        said = repr((plan.first, plan.last, plan.agent, facts, model))
        return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Report:
    """What there is to know of the model: who is asked, the last draft, and what its night has cost of its budget."""

    asks: str
    budget: int
    last: Draft | None = None
    spent: int = 0

    @property
    def sentence(self) -> str:
        """All of it in one sentence."""
        if self.last is None:
            return f"{self.asks} may word the notes; it was not asked yet"
        what = f"the note of {self.last.agent}, {self.last.day},"
        how = (
            f"was worded by {self.last.model or self.asks}"
            if self.last.by == "model"
            else f"has no model text: {self.last.reason}"
        )
        return f"{what} {how}; that night cost {self.spent:,} of {self.budget:,} tokens"


def report(chosen_settings: Settings) -> Report | None:
    """Return what `status` says of the model; None where none is wanted."""
    if chosen_settings.note_model == "off":
        return None
    spending = Purse(chosen_settings.home).read()
    asks = "OpenClaw's model" if "://" not in chosen_settings.note_model else chosen_settings.note_model
    last = spending.drafts[-1] if spending.drafts else None
    return Report(asks, chosen_settings.note_token_budget, last, spending.spent.get(last.night, 0) if last else 0)


def asker_of(chosen_settings: Settings) -> Asker | None:
    """Return who is to be asked by these settings; None where no model is wanted."""
    wanted, model = chosen_settings.note_model, chosen_settings.note_model_name
    if wanted == "off":
        return None
    if "://" in wanted:
        return asking.Endpoint(wanted, model, settings.secret(chosen_settings.note_model_key_env))
    return asking.OpenClaw(wanted, settings.for_child(chosen_settings), model)


def _judged(given: Plan, paragraph: str, asker: Asker, data: str) -> Worded:
    try:
        reply = asker.ask(framing.ORDER, data, given.agent)
    except Unavailable as error:
        return Worded(paragraph, reason=_sentence(error))
    costs = _costs(reply, data)
    if why := checking.fault(reply.text, given):
        return replace(costs, text=paragraph, reason=f"the model's text was refused: {why}")
    return replace(costs, text=checking.restored(reply.text, given), by="model")


def _costs(reply: Reply, data: str) -> Worded:
    exact = reply.tokens_in is not None and reply.tokens_out is not None
    told = reply.tokens_in if reply.tokens_in is not None else framing.tokens_of(framing.ORDER + data)
    said = reply.tokens_out if reply.tokens_out is not None else framing.tokens_of(reply.text)
    return Worded("", tokens_in=told, tokens_out=said, model=reply.model, exact=exact)


def _sentence(error: LimpetError) -> str:
    """Return the error without its full stop, and without secrets that a provider may have repeated in it."""
    cleaned = Redactor(clock.nonce()).redact_text(error.message)[0]
    return text.one_line(cleaned, 200).removesuffix(".")


def _draft(done: Worded, plan: Plan, stamp: str, night: str, tries: int) -> Draft:
    return Draft(
        day=framing.day(plan),
        agent=plan.agent,
        stamp=stamp,
        night=night,
        by=done.by,
        text=done.text if done.by == "model" else "",
        reason=done.reason,
        model=done.model,
        tokens_in=done.tokens_in,
        tokens_out=done.tokens_out,
        exact=done.exact,
        tries=tries,
    )


def _from(draft: Draft, words: str) -> Worded:
    return Worded(words, draft.by, draft.reason, draft.tokens_in, draft.tokens_out, draft.model, draft.exact)
