"""Limpet, a persistent memory sidecar for AI agents."""
