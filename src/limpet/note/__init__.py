"""The daily note: what a day's events say, in words, and where that is kept. Not for asking; see `recall`."""
