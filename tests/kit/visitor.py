"""Somebody in a browser without scripts: Django's test client, signed in."""

from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from tests.kit.page import without_layout


class Visitor(Client):
    """A client that reads pages without the layout of their templates."""

    def request(self, **request: Any) -> HttpResponse:
        answer = super().request(**request)
        if not answer.streaming and answer.headers.get("Content-Type", "").startswith("text/html"):
            answer.content = without_layout(answer.content.decode()).encode()
        return answer


def visitor(user: Any, **options: Any) -> Client:
    """Return the browser of a user; a fault of ours is an answer of 500."""
    client = Visitor(raise_request_exception=False, **options)
    client.force_login(user)
    return client


@pytest.fixture
def client() -> Client:
    """Somebody who has not signed in."""
    return Visitor()


@pytest.fixture
def page(ana: Any) -> Client:
    """Ana's browser."""
    return visitor(ana)


@pytest.fixture
def operator_page(olga: Any) -> Client:
    """An operator's browser."""
    return visitor(olga)
