"""Everything that can go wrong, as a tree; each error has a code, a sentence and a hint. Not for printing.

LimpetError            1  a fault of ours
├── NotUnderstood      2  the question or an argument was not understood
├── BadInput           2  a file or a value that cannot be read
├── NotFound           3  no such event, session, file
├── Unavailable        4  locked, no permission, sidecar down, database newer or damaged
└── CheckFailed        5  verify, doctor or status found something wrong
"""

from __future__ import annotations


class LimpetError(Exception):
    """A sentence for people, a stable code for programs, and a hint that says what to do."""

    exit_status = 1
    code = "fault"

    def __init__(self, message: str, hint: str = "", code: str = "") -> None:
        """Take the sentence, what to do about it, and a code narrower than the class's own."""
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code or type(self).code


class NotUnderstood(LimpetError):  # noqa: N818 - errors are named by what happened
    """The question, or an argument, was not understood."""

    exit_status = 2
    code = "not_understood"


class BadInput(LimpetError):  # noqa: N818
    """A file, a line or a value that cannot be read."""

    exit_status = 2
    code = "bad_input"


class NotFound(LimpetError):  # noqa: N818
    """There is no such thing."""

    exit_status = 3
    code = "not_found"


class Unavailable(LimpetError):  # noqa: N818
    """It exists but cannot be used now."""

    exit_status = 4
    code = "unavailable"


class CheckFailed(LimpetError):  # noqa: N818
    """A check found something wrong."""

    exit_status = 5
    code = "check_failed"
