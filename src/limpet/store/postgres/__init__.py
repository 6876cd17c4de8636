"""The store on PostgreSQL: the memories of many machines, for reading. What is written there, `push` writes."""
