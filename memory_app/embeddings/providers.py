"""Which provider the environment names; None while embeddings are disabled (S1: the default)."""

from functools import lru_cache

from django.conf import settings

from memory_app.embeddings.adapters import EmbeddingProvider
from memory_app.embeddings.adapters.http import HttpProvider
from memory_app.embeddings.adapters.local import MODEL, LocalProvider
from minara_site.config import EmbeddingProviderName as Name

OPENAI_URL = "https://api.openai.com/v1"
VOYAGE_URL = "https://api.voyageai.com/v1"
OPENAI_MODEL = "text-embedding-3-small"
VOYAGE_MODEL = "voyage-3.5"
PLAIN = {"encoding_format": "float"}


def is_enabled() -> bool:
    """Say whether texts are embedded at all."""
    return bool(settings.MINARA.embedding_provider != Name.DISABLED)


def current_provider() -> EmbeddingProvider | None:
    """Return the provider of the settings, None when it is `disabled`."""
    config = settings.MINARA
    return make_provider(
        config.embedding_provider,
        config.embedding_model,
        config.embedding_base_url,
        config.embedding_api_key,
    )


@lru_cache(maxsize=4)
def make_provider(
    name: Name,
    model: str,
    base_url: str,
    key: str,
) -> EmbeddingProvider | None:
    """Return the provider that these values describe."""
    match name:
        case Name.LOCAL:
            return LocalProvider(model or MODEL)
        case Name.OPENAI:
            url, model = base_url or OPENAI_URL, model or OPENAI_MODEL
            return HttpProvider(
                "openai",
                model,
                url.rstrip("/"),
                key,
                PLAIN,
                PLAIN,
            )
        case Name.VOYAGE:
            url, model = base_url or VOYAGE_URL, model or VOYAGE_MODEL
            ways = {"input_type": "document"}, {"input_type": "query"}
            return HttpProvider(
                "voyage",
                model,
                url.rstrip("/"),
                key,
                *ways,
            )
    return None
