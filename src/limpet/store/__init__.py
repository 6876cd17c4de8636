"""The store: one database file and its index. Verbs of the domain above, named queries below."""
