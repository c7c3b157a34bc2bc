"""Entities and typed edges: what memories mention and how. Source: S1 (typed memory edges)."""
