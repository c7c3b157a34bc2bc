"""Error answers: the same facts as page and as block for htmx, and nothing from inside (W-08, W-30)."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from minara_site.shell.errors import server_error
from tests.kit.page import text_of
from tests.kit.tables import table

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("test_site")]
HTMX = {"HX-Request": "true"}


@table(
    ("how", "status", "words"),
    [
        ("missing", 404, "There is no such memory."),
        ("http404", 404, "The address is wrong"),
        ("conflict", 409, "Ana Ruiz saved revision 4"),
        ("throttled", 429, "Slow down."),
        ("suspicious", 400, "the link is broken"),
        ("database", 503, "Try again in a few seconds."),
        ("crash", 500, "Nothing was lost that had been saved."),
    ],
)
def test_says_what_happened_and_what_to_do_as_page_and_block(page: Client, how: str, status: int, words: str) -> None:
    html = text_of(page.get(f"/fail/{how}/", headers={"X-Request-ID": "req-7"}), status)
    block = text_of(page.get(f"/fail/{how}/", headers=HTMX), status)
    for text in (html, block):
        assert words in text
        assert not any(inside in text for inside in ("secret internals", "Error", "Traceback"))
    assert "req-7" in html
    assert 'href="/"' in html
    assert "<html" not in block
    assert 'role="alert"' in block


def test_says_how_long_to_wait(page: Client) -> None:
    throttled = page.get("/fail/throttled/")
    assert throttled["Retry-After"] == "7"
    assert "Wait 7 seconds" in text_of(throttled, 429)
    assert page.get("/fail/database/")["Retry-After"] == "5"


def test_a_failure_page_reads_no_database(rf: Any) -> None:
    with CaptureQueriesContext(connection) as queries:
        response = server_error(rf.get("/memories/"))
    assert len(queries) == 0
    assert response.status_code == 500


def test_an_address_of_forms_says_so_when_it_is_opened(page: Client) -> None:
    response = page.get("/settings/theme/")
    assert response["Allow"] == "POST"
    assert "Go to that page and use its button." in text_of(response, 405)


def test_a_form_without_token_says_what_to_do(ana: Any) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(ana)
    assert "Reload the page and send it again." in text_of(client.post("/memories/undo/"), 403)


def test_a_missing_page_escapes_the_request_id_and_allows_no_camera(page: Client) -> None:
    response = page.get("/nowhere/", headers={"X-Request-ID": "<script>alert(1)</script>"})
    assert "<script>alert" not in text_of(response, 404)
    assert "camera=()" in response["Permissions-Policy"]
