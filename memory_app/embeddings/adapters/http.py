"""Endpoints that embed over HTTP: any that speaks OpenAI's embeddings API, and Voyage.

Both take `POST {base}/embeddings` with `model` and `input`, and answer `{"data": [{"index", "embedding"}, ...]}`.
The address is the operator's own setting and may lead anywhere, private hosts too. Answers are read to a bound and
within a time; redirects are not followed, because the key would go along.
"""

import json
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import cache
from http import HTTPStatus
from threading import BoundedSemaphore, Thread
from typing import Any, ClassVar, NamedTuple

import httpx2
from django.utils.translation import gettext as _

from memory_app.embeddings.adapters import Misconfigured, ProviderDown, TextsRefused
from memory_app.embeddings.core import BadVectors, Vector, normalise_vectors

QUERY_SECONDS = 2.0
PASSAGES_SECONDS = 30.0
MAX_TRIES = 3
MAX_WAIT_SECONDS = 20.0
MAX_ANSWER_BYTES = 64 * 1024 * 1024
MOST_WAITING = 32  # threads of a process that wait for an answer, given up or not
NOT_NOW = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS}
NOT_THESE = {HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNPROCESSABLE_ENTITY}

_free_places = BoundedSemaphore(MOST_WAITING)


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
        vector: Vector = self._ask([text], self.query_fields, seconds=QUERY_SECONDS)[0]
        return vector

    def _ask(self, texts: Sequence[str], fields: dict[str, str], *, seconds: float) -> Vector:
        body = {"model": self.model, "input": list(texts), **fields}
        try:
            answer = post(self.base_url + "/embeddings", body, key=self.key, seconds=seconds)
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol, UnicodeEncodeError):
            raise Misconfigured(_("EMBEDDING_BASE_URL or EMBEDDING_API_KEY cannot be used as it is.")) from None
        except httpx2.HTTPError as error:
            kind = type(error).__name__
            raise ProviderDown(_("The embedding provider did not answer (%(kind)s).") % {"kind": kind}) from None
        check_status(answer)
        return read_vectors(answer.content, len(texts))


class Answer(NamedTuple):
    """What came back, read to its end."""

    status: int
    retry_after: str
    content: bytes


def post(url: str, body: dict[str, Any], *, key: str, seconds: float) -> Answer:
    """Return the whole answer, whatever its status. Raises httpx2.HTTPError when none comes in time.

    The client's own time limits are for each step; a server that drips headers, or a name that is never resolved,
    passes all of them. So a thread waits for the answer, and is left alone when the time is over.
    """
    places = _free_places
    if not places.acquire(blocking=False):
        raise httpx2.PoolTimeout("Too many answers are waited for already.")
    answer: Future[Answer] = Future()

    def read() -> Answer:
        try:
            return read_answer(url, body, key=key, seconds=seconds)
        finally:
            places.release()

    def wait_for_it() -> None:
        try:
            answer.set_result(read())
        except BaseException as error:  # noqa: BLE001 - it belongs to who asked
            answer.set_exception(error)

    Thread(target=wait_for_it, name="embeddings", daemon=True).start()
    try:
        return answer.result(timeout=seconds)
    except TimeoutError:
        raise httpx2.ReadTimeout("The answer takes too long.") from None


def read_answer(url: str, body: dict[str, Any], *, key: str, seconds: float) -> Answer:
    """Send the request and read what comes back, up to MAX_ANSWER_BYTES. Raises httpx2.HTTPError."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    deadline = time.monotonic() + seconds
    with client_of(os.getpid()).stream("POST", url, json=body, headers=headers, timeout=seconds) as response:
        content = bytearray()
        for chunk in response.iter_bytes():
            content += chunk
            if time.monotonic() > deadline or len(content) > MAX_ANSWER_BYTES:
                raise httpx2.ReadTimeout("The answer takes too long or is too large.")
    return Answer(response.status_code, response.headers.get("Retry-After", ""), bytes(content))


@cache
def client_of(process_id: int) -> httpx2.Client:
    """Return this process's client, which keeps connections open; a forked worker must not share its parent's."""
    return httpx2.Client(follow_redirects=False)


def check_status(answer: Answer) -> None:
    """Raise what a status other than 200 means."""
    status = answer.status
    if status == HTTPStatus.OK:
        return
    said = {"status": status}
    if status in NOT_THESE:
        raise TextsRefused(_("The embedding provider refused the texts (HTTP %(status)d).") % said)
    if status in NOT_NOW or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        wait = retry_after(answer.retry_after)
        raise ProviderDown(
            _("The embedding provider is not available (HTTP %(status)d).") % said, retry_after_seconds=wait
        )
    raise Misconfigured(
        _("The embedding provider refuses us (HTTP %(status)d). Look at the EMBEDDING_ variables.") % said
    )


def retry_after(value: str) -> int | None:
    """Return the seconds that the header asks to wait, at least 0; None when it says nothing usable."""
    if value.isascii() and value.isdigit():
        return min(int(value[:9]), 86400)
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, TypeError):
        return None
    return min(max(int(moment.timestamp() - time.time()), 0), 86400)


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
