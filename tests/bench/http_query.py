"""The raw query that the product's search is compared with: same MATCH, same owner filter, top ten."""

REFERENCE_SQL = """
    SELECT m.id, m.content, -bm25(search_index, 0.0, 1.0, 0.0) AS score
    FROM search_index
    JOIN search_document d ON d.id = search_index.rowid
    JOIN memories m ON m.id = d.object_id
    WHERE search_index MATCH ? AND d.owner_id = ? AND m.deleted_at IS NULL
    ORDER BY score DESC LIMIT 10
"""


def reference_match(owner_id: int, query: str) -> str:
    """Return the MATCH text of a query of plain words."""
    words = " OR ".join(f'body : "{word}"' for word in query.split())
    return f'owner : "u{owner_id}" AND ({words})'
