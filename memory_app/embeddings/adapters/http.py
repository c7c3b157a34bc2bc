"""Endpoints that embed over HTTP: any that speaks OpenAI's embeddings API, and Voyage.

Both take `POST {base}/embeddings` with `model` and `input`, and answer `{"data": [{"index", "embedding"}, ...]}`.
"""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import ClassVar

from django.utils.translation import gettext as _

from memory_app.embeddings.adapters import Misconfigured, ProviderDown, TextsRefused
from memory_app.embeddings.core import BadVectors, Vector, normalise_vectors
from minara_site.kernel.http import HttpAnswer, HttpFailed, HttpLimits, request

QUERY_SECONDS = 2.0
PASSAGES_SECONDS = 30.0
MAX_TRIES = 3
MAX_WAIT_SECONDS = 20.0
LIMITS = HttpLimits("embeddings", max_bytes=64 * 1024 * 1024)
NOT_NOW = {
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.TOO_EARLY,
    HTTPStatus.TOO_MANY_REQUESTS,
}
NOT_THESE = {
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNPROCESSABLE_ENTITY,
}


@dataclass(frozen=True, slots=True)
class HttpProvider:
    """Embeds through an endpoint; the fields that tell passages from queries differ between the two APIs."""

    provider: str
    model: str
    base_url: str
    key: str = field(repr=False)
    passage_fields: dict[str, str]
    query_fields: dict[str, str]
    wait: Callable[[float], None] = time.sleep
    batch_size: ClassVar[int] = 64

    @property
    def label(self) -> str:
        """The name of its vectors."""
        return f"{self.provider}:{self.model}"

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        """Return a row for each text; an endpoint that is busy is asked up to three times."""
        for tries_left in reversed(range(MAX_TRIES)):
            try:
                return self._ask(texts, self.passage_fields, seconds=PASSAGES_SECONDS)
            except ProviderDown as error:
                pause = 1 if error.retry_after_seconds is None else error.retry_after_seconds
                if not tries_left or pause > MAX_WAIT_SECONDS:
                    raise
                self.wait(pause)
        raise AssertionError("unreachable")

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a query; it is asked once, for somebody waits."""
        return self._ask([text], self.query_fields, seconds=QUERY_SECONDS)[0]

    def _ask(
        self,
        texts: Sequence[str],
        fields: dict[str, str],
        *,
        seconds: float,
    ) -> Vector:
        body = {"model": self.model, "input": list(texts), **fields}
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        url = self.base_url + "/embeddings"
        try:
            answer = request(
                "POST",
                url,
                limits=LIMITS,
                seconds=seconds,
                json=body,
                headers=headers,
            )
        except HttpFailed as error:
            if error.is_unusable:
                raise Misconfigured(_("EMBEDDING_BASE_URL or EMBEDDING_API_KEY cannot be used as it is.")) from None
            raise ProviderDown(_("The embedding provider did not answer (%(kind)s).") % {"kind": error}) from None
        check_status(answer)
        return read_vectors(answer.content, len(texts))


def check_status(answer: HttpAnswer) -> None:
    """Raise what a status other than 200 means."""
    status = answer.status
    if status == HTTPStatus.OK:
        return
    said = {"status": status}
    if status in NOT_THESE:
        raise TextsRefused(_("The embedding provider refused the texts (HTTP %(status)d).") % said)
    if status in NOT_NOW or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        sentence = _("The embedding provider is not available (HTTP %(status)d).")
        raise ProviderDown(sentence % said, retry_after_seconds=answer.retry_after_seconds)
    raise Misconfigured(
        _("The embedding provider refuses us (HTTP %(status)d). Look at the EMBEDDING_ variables.") % said
    )


def read_vectors(content: bytes, count: int) -> Vector:
    """Return the vectors of an answer in the order of the texts. Raises TextsRefused for anything else."""
    try:
        data = json.loads(content)["data"]
        places = [item["index"] for item in data]
        if sorted(places) != list(range(count)):
            raise BadVectors("The answer does not hold each text once.")
        rows = [item["embedding"] for item in sorted(data, key=lambda item: item["index"])]
        return normalise_vectors(rows, count=count)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise TextsRefused(_("The embedding provider answered with something that is no list of vectors.")) from None
