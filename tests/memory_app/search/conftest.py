"""The embedding settings of a test, and memories with vectors of the local model."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from memory_app.embeddings.adapters.local import LocalProvider
from memory_app.embeddings.services import embed_pending
from tests.kit.clock import NOON
from tests.memory_app.embeddings.conftest import enable, endpoint  # noqa: F401 - fixtures

VECTORS: dict[tuple[str, bool, str], Any] = {}


@pytest.fixture(autouse=True, scope="package")
def each_text_is_read_once() -> Iterator[None]:
    """Keep what the local model made of a text: reading takes most of these tests' time."""
    read = LocalProvider._embed

    def read_once(provider: LocalProvider, texts: Sequence[str], *, is_query: bool) -> Any:
        keys = [(provider.model, is_query, text) for text in texts]
        new = list(dict.fromkeys(key for key in keys if key not in VECTORS))
        if new:
            VECTORS.update(
                zip(
                    new,
                    read(provider, [text for *_rest, text in new], is_query=is_query),
                    strict=True,
                )
            )
        return np.array([VECTORS[key] for key in keys])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LocalProvider, "_embed", read_once)
        yield


@pytest.fixture
def embed(enable):  # noqa: F811
    """Embed what is pending with the local model: `embed()`."""

    def run():
        enable("local")
        return embed_pending(now=NOON)

    return run
