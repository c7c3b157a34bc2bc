"""Writes of learnings: store or repeat, edit, delete and restore, count what turns did with them, review turns."""
