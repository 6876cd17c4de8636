"""OpenClaw: its hooks, its transcripts, its audit ledger, its log, and its configuration."""
