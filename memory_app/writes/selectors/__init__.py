"""Reads of this room: who writes what, what stands out, and what a roll-back would do."""
