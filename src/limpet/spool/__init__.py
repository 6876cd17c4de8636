"""The on-disk queue: events come in as JSON lines in files, one folder per producer, and leave when committed."""
