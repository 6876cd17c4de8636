"""The brief: what an agent should know when it wakes up, in few words. Not for asking; see `recall`."""
