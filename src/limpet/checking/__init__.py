"""The parts of verification: the chain, and the events held against those that the ledger gives."""
