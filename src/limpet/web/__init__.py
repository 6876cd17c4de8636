"""The web page and the HTTP API: a process of its own on loopback, only when asked for. It reads and never writes."""
