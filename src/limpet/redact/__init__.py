"""Secrets taken out of values before anything is written. Not for access rights, and it keeps nothing it finds."""

from limpet.redact.redactor import Redactor

__all__ = ["Redactor"]
