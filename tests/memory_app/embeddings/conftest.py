"""A provider that speaks the embeddings API over a real socket, and the settings that lead to it."""

from collections.abc import Callable, Iterator

import pytest
from django.conf import LazySettings

from memory_app.embeddings import selectors
from tests.memory_app.embeddings.endpoint import Endpoint, serve

Enable = Callable[..., None]


@pytest.fixture
def enable(settings: LazySettings) -> Iterator[Enable]:
    """Set the embedding variables of this test: `enable("local")`."""

    def choose(provider: str, **fields: str) -> None:
        chosen = {"embedding_provider": provider, **{f"embedding_{name}": each for name, each in fields.items()}}
        settings.MINARA = settings.MINARA.model_copy(update=chosen)

    selectors.ask_provider.cache_clear()
    yield choose
    selectors.ask_provider.cache_clear()


@pytest.fixture
def endpoint(enable: Enable) -> Iterator[Endpoint]:
    """A well-behaved endpoint that the settings name; tests tell it to misbehave."""
    with serve() as made:
        enable("openai", base_url=made.url, api_key="sk-test-of-embeddings")
        yield made
