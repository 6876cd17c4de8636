"""The push: one machine's memory, replicated into a fleet's PostgreSQL. It reads the store, and writes only there."""
