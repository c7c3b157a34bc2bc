"""Somebody in a browser without scripts: Django's test client, signed in."""

from typing import Any

import pytest
from django.test import Client


def visitor(user: Any, **options: Any) -> Client:
    """Return the browser of a user; a fault of ours is an answer of 500."""
    client = Client(raise_request_exception=False, **options)
    client.force_login(user)
    return client


@pytest.fixture
def page(ana: Any) -> Client:
    """Ana's browser."""
    return visitor(ana)


@pytest.fixture
def operator_page(olga: Any) -> Client:
    """An operator's browser."""
    return visitor(olga)
