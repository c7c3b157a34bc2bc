"""Writes of lessons: the question that a tick asks for, and the note that comes of it."""
