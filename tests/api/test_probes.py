"""`/healthz` and `/readyz`, seen from outside."""

import pytest
from django.test import Client

from tests.kit.tables import table

pytestmark = pytest.mark.django_db


@table("method", ["get", "head"])
def test_healthz_is_open_and_short(client: Client, method: str) -> None:
    answer = getattr(client, method)("/healthz")
    assert answer.status_code == 200
    if method == "get":
        assert answer.json() == {"ok": True}


def test_healthz_asks_no_database(client: Client, django_assert_num_queries: object) -> None:
    with django_assert_num_queries(0):  # type: ignore[operator]
        client.get("/healthz", HTTP_COOKIE="minara-session=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")


def test_readyz_says_which_part_is_missing(client: Client) -> None:
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer["Retry-After"].isdigit()
    body = answer.json()
    assert body["ok"] is False
    assert "worker" in str(body)


@table("path", ["/healthz", "/readyz"])
@table("method", ["post", "put", "delete", "patch"])
def test_nothing_can_be_written_there(client: Client, path: str, method: str) -> None:
    answer = getattr(client, method)(path)
    assert answer.status_code == 405
    assert answer["Content-Type"] == "application/problem+json"
    assert "GET" in answer["Allow"]
