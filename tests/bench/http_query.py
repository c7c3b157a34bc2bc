"""The raw query that the product's search is compared with: same words, same owner filter, top ten."""

from minara_site.kernel.core.porter import stem

SQLITE = """
    SELECT m.id, m.content, -bm25(search_index, 0.0, 1.0, 0.0) AS score
    FROM search_index
    JOIN search_document d ON d.id = search_index.rowid
    JOIN memories m ON m.id = d.object_id
    WHERE search_index MATCH ? AND d.owner_id = ? AND m.deleted_at IS NULL
    ORDER BY score DESC LIMIT 10
"""
POSTGRESQL = """
    SELECT m.id, m.content, ts_rank(d.words, %(match)s::tsquery) AS score
    FROM search_document d
    JOIN memories m ON m.id = d.object_id AND m.owner_id = d.owner_id
    WHERE d.words @@ %(match)s::tsquery AND d.kind = 'memory' AND d.owner_id = %(owner)s AND m.deleted_at IS NULL
    ORDER BY score DESC LIMIT 10
"""
LIST = """
    SELECT id, category, content, source, actor, fact_type, tickers, version, created_at, updated_at FROM memories
    WHERE owner_id = %s AND deleted_at IS NULL ORDER BY updated_at DESC, id DESC LIMIT %s
"""


def sqlite_match(owner_id: int, query: str) -> str:
    """Return the MATCH text of a query of plain words."""
    words = " OR ".join(f'body : "{word}"' for word in query.split())
    return f'owner : "u{owner_id}" AND ({words})'


def postgresql_match(owner_id: int, query: str) -> str:
    """Return the tsquery of a query of plain words, stemmed as the product does."""
    words = " | ".join(f"'{stem(word)}':D" for word in query.split())
    return f"'u{owner_id}':A & ({words})"
