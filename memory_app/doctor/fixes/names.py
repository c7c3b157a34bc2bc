"""The names of this app's fixes."""

from enum import StrEnum


class FixName(StrEnum):
    """The fixes of this version, by S1's names and one of ours."""

    EMBEDDINGS = "embeddings"
    EDGES = "edges"
    SEARCH_INDEX = "search_index"
    METHODOLOGY_DEMOTION = "methodology_demotion"
    REFLECT_PENDING = "reflect_pending"
