"""Vectors of memories and decisions: providers, the life cycle of an embedding, the nearest of a query.

Source: S1 (hybrid retrieval).
"""
