"""How preferences look: their list, and one with its evidence and what agents read of it."""
