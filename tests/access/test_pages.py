"""What `@page` lets through."""

import pytest

from minara_site.access.policy import Act
from tests.access import guarded_urls
from tests.kit.tables import table

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.access.guarded_urls")]
METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")


def answers(client, path):
    return {method: client.generic(method, path).status_code for method in METHODS}


def test_lets_the_right_people_use_the_named_methods_only(client, ana):
    client.force_login(ana)
    others = dict.fromkeys(METHODS, 405)
    assert answers(client, "/guarded/own") == {**others, "GET": 200, "HEAD": 200}
    assert answers(client, "/guarded/save") == {**others, "POST": 200}
    assert client.put("/guarded/own")["Allow"] == "GET, HEAD"


def test_sends_a_stranger_to_the_sign_in_page_and_back(client):
    assert client.get("/guarded/own?q=a&b=1").headers["Location"] == "/login?next=%2Fguarded%2Fown%3Fq%3Da%26b%3D1"
    assert client.put("/guarded/own").status_code == 405


@table(
    ("headers", "location"),
    [
        ({}, "/login"),
        ({"Referer": "http://testserver/memories/?q=1"}, "/login?next=%2Fmemories%2F%3Fq%3D1"),
        ({"Referer": "http://evil.example/memories/"}, "/login"),
        ({"Referer": "//evil.example/"}, "/login"),
        ({"Referer": "javascript:alert(1)"}, "/login"),
    ],
)
def test_sends_who_posted_back_to_the_page_of_the_form(client, headers, location):
    assert client.post("/guarded/save", headers=headers).headers["Location"] == location


def test_sends_the_browser_and_not_the_fragment_to_sign_in_under_htmx(client):
    headers = {"HX-Request": "true", "HX-Current-URL": "http://testserver/memories/?state=held"}
    response = client.get("/guarded/own?cursor=abc", headers=headers)
    assert response.headers["HX-Redirect"] == "/login?next=%2Fmemories%2F%3Fstate%3Dheld"
    assert "Location" not in response.headers


def test_reads_user_and_role_in_one_query(client, ana, django_assert_num_queries):
    client.force_login(ana)
    with django_assert_num_queries(2):  # the session, the user with role
        client.get("/guarded/own")


def test_tells_the_permission_tests_what_it_guards():
    view = guarded_urls.urlpatterns[0].callback
    assert (view.act, view.methods) == (Act.SIGN_IN, {"GET", "HEAD", "POST"})
