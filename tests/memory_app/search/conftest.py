"""The embedding settings of a test, and memories with vectors of the local model."""

import pytest

from memory_app.embeddings.services import embed_pending
from tests.kit.clock import NOON
from tests.memory_app.embeddings.conftest import enable, endpoint  # noqa: F401 - fixtures


@pytest.fixture
def embed(enable):  # noqa: F811
    """Embed what is pending with the local model: `embed()`."""

    def run():
        enable("local")
        return embed_pending(now=NOON)

    return run
