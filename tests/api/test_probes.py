"""`/healthz` and `/readyz`, seen from outside."""

from typing import Any

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


def test_healthz_is_open_and_short_and_asks_no_database(client: Client, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        answer = client.get("/healthz", HTTP_COOKIE="minara-session=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")
    assert (answer.status_code, answer.json()) == (200, {"ok": True})
    assert client.head("/healthz").status_code == 200


def test_readyz_says_which_part_is_missing(client: Client) -> None:
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer["Retry-After"].isdigit()
    body = answer.json()
    assert body["ok"] is False
    assert "worker" in str(body)


def test_a_refused_method_is_a_problem_that_names_the_right_ones(client: Client) -> None:
    for path in ("/healthz", "/readyz"):
        answer = client.post(path)
        assert (answer.status_code, answer["Content-Type"]) == (405, "application/problem+json")
        assert "GET" in answer["Allow"]
