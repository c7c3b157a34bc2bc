"""Who turns texts into vectors: the model in this process, an endpoint like OpenAI's, or Voyage. Source: S1.

What goes wrong is one of three: the provider does not answer now (`ProviderDown`), it does not take these texts
(`TextsRefused`), or it cannot work as it is set up (`Misconfigured`). No message holds a key, an address or a text.
"""

from collections.abc import Sequence
from http import HTTPStatus
from typing import ClassVar, Protocol

from memory_app.embeddings.core import Vector
from minara_site.kernel.errors import MinaraError, Unavailable


class ProviderDown(Unavailable):
    """The provider does not answer now; waiting may help."""

    code = "embeddings_unavailable"


class TextsRefused(MinaraError):
    """The provider answered, but not with one vector for each of these texts."""

    status = HTTPStatus.BAD_GATEWAY
    code = "embeddings_refused"


class Misconfigured(MinaraError):
    """The provider cannot work before somebody changes a setting."""

    status = HTTPStatus.INTERNAL_SERVER_ERROR
    code = "embeddings_misconfigured"


class EmbeddingProvider(Protocol):
    """What a provider can do. Vectors are float32 rows of length 1, in the order of the texts."""

    batch_size: ClassVar[int]
    """How many texts one call takes at most."""

    @property
    def label(self) -> str:
        """`provider:model`; vectors of different labels are never compared."""

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        """Return a row for each text. Raises ProviderDown, TextsRefused or Misconfigured."""

    def embed_query(self, text: str) -> Vector:
        """Return the vector of what somebody asks, within two seconds. Raises what `embed_passages` raises."""
