"""Reads of this room: who wrote what, which writing is unusual, and what a roll-back would do."""
