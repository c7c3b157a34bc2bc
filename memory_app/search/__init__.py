"""Full-text search: the index and its upkeep, queries, ranking, highlights. Source: S1 (search semantics)."""
