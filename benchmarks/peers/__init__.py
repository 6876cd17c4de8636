"""What a user would pick instead of Limpet, each driven on the same work. Not for what Limpet costs by itself."""
