"""What the details of an audit entry say."""

from memory_app.writes.core.entries import count_ids, id_runs
from tests.kit.tables import table


@table(
    ("details", "runs", "count"),
    [
        ({"id": 7, "sha256": "x"}, [(7, 7)], 1),
        ({"ids": [3, 9], "count": 7}, [(3, 9)], 7),  # as it was written before runs were exact
        ({"ids": [[3, 5], [8, 8]], "count": 4}, [(3, 5), (8, 8)], 4),
        ({"memories": [{"id": 4}, {"id": 9}], "batch": "b"}, [(4, 4), (9, 9)], 2),
        ({"key": "zone"}, [], 1),
        ({}, [], 1),
    ],
)
def test_ids_and_their_number(details: dict, runs: list, count: int) -> None:
    assert id_runs(details) == runs
    assert count_ids(details) == count
