"""What a tool call did, from its event alone: which calls are of one kind. Pure; for whatever tells of calls."""
