"""`python -m limpet` is `limpet`."""

from limpet.cli.main import run

run()
