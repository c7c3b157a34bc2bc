"""Writes of deployments and ticks."""
