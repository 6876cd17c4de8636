"""The process that serves the page; the sidecar starts it and talks to it over its standard streams. Not for people."""

from __future__ import annotations

import sys

from limpet.web import serving

if __name__ == "__main__":
    sys.exit(serving.main(sys.argv[1:]))
