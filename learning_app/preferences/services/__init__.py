"""Writes of preferences: propose, decide, mine."""
