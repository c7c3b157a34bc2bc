"""Writes of rebuilds."""
