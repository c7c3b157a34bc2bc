"""Queries, highlights and ranking; no database."""
