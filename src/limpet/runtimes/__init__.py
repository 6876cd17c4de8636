"""Agent runtimes: what each one emits, what that means, and how Limpet is installed into it."""
