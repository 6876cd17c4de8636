"""Runs a tool for a door and returns a text for the model, whatever happens: the only way in for MCP and the plugin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import apsw

from limpet.errors import LimpetError
from limpet.framing import framed
from limpet.store import opening
from limpet.tools.definitions import checked
from limpet.tools.fitting import fitted
from limpet.tools.reading import Reader, bodies
from limpet.tools.scope import Scope

if TYPE_CHECKING:
    from limpet.memory import Memory
    from limpet.model import Json

EVERYTHING = Scope()
REFUSED = "The memory gave no answer; the reason is in the JSON below."


@dataclass(frozen=True, slots=True)
class Told:
    """What a model gets; `code` is "" for an answer, else the error's (`not_understood`, `not_found` ...)."""

    text: str
    code: str = ""


def run(memory: Memory, name: str, arguments: Json, scope: Scope = EVERYTHING) -> Told:
    """Run a tool. Never raises: an error becomes a sentence and a hint, a fault of ours a sentence without content."""
    try:
        taken = checked(name, arguments)
        said = bodies(Reader(memory, scope))[name](**taken)
    except LimpetError as problem:
        return refusal(problem)
    except apsw.Error as error:
        return refusal(opening.explained(error, memory.settings.db))
    except Exception as fault:  # noqa: BLE001 - the last door: what the fault says may quote what was recorded
        return refusal(LimpetError(f"Limpet made a mistake ({type(fault).__name__}).", "Please report it."))
    return Told(framed(said.payload, said.sentences))


def refusal(problem: LimpetError) -> Told:
    """Return an error as a text for the model: what it quotes is framed like everything else."""
    error = {"error": {"code": problem.code, "message": problem.message, "hint": problem.hint}}
    return Told(framed(fitted(error, "").payload, (REFUSED,)), problem.code)
