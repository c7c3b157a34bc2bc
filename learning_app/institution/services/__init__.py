"""Writes of institution runs: requests, inputs, the run itself, and the ladder."""
