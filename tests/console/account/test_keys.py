"""The page of a person's own keys."""

import json
import re
from html import unescape

import pytest
from django.urls import reverse
from django.utils import timezone

from minara_site.access.keys.services import create_key
from minara_site.access.models import ApiKey
from tests.kit.page import text_of
from tests.kit.tables import table

pytestmark = pytest.mark.django_db
LIST = "/settings/keys/"
FORM = {
    "label": "Laptop <b>",
    "scopes": ["memory:read", "memory:write"],
    "expires_days": "30",
    "networks": "10.0.0.0/8",
}
KEY = re.compile(r"mnr_live_[0-9a-z]{8}_[0-9A-Za-z]{49}")


def make_key(user):
    return create_key(user=user, scopes=["memory:read"], label=f"{user}'s", now=timezone.now(), actor="test")


class TestMaking:
    def test_shows_the_key_once_with_a_call_to_paste_that_works(self, page, ana):
        response = page.post(LIST + "new/", FORM)
        shown = text_of(response, 201)
        assert "no-store" in response["Cache-Control"]
        (text,) = set(KEY.findall(shown))
        assert f"Bearer {text}&quot;" in shown or f'Bearer {text}"' in shown
        row = ApiKey.objects.get(user=ana)
        assert (row.label, row.scopes, row.allowed_networks) == (FORM["label"], FORM["scopes"], ["10.0.0.0/8"])
        assert (row.expires_at - row.created_at).days == 30
        assert not KEY.search(text_of(page.get(LIST)))
        assert "Laptop &lt;b&gt;" in text_of(page.get(LIST))
        answer = page.get("/v1/memory", headers={"Authorization": f"Bearer {text}"}, REMOTE_ADDR="10.1.1.1")
        assert answer.status_code == 200

    def test_shows_what_mcp_clients_take(self, page):
        shown = unescape(text_of(page.post(LIST + "new/", FORM), 201))
        assert "claude mcp add --transport http minara http://127.0.0.1:8000/mcp --header" in shown
        pasted = json.loads(shown[shown.index('{\n  "mcpServers"') : shown.index("</pre>", shown.index("mcpServers"))])
        server = pasted["mcpServers"]["minara"]
        assert server["url"] == "http://127.0.0.1:8000/mcp"
        assert KEY.search(server["headers"]["Authorization"])

    def test_makes_one_key_when_the_answer_is_reloaded(self, page):
        sent = FORM | {"once": page.get(LIST + "new/").context["form"]["once"].value()}
        assert page.post(LIST + "new/", sent).status_code == 201
        again = page.post(LIST + "new/", sent)
        assert (again.status_code, again["Location"]) == (303, LIST)
        assert "That key was made already." in text_of(page.get(LIST))
        assert ApiKey.objects.count() == 1

    def test_offers_only_what_something_asks_for(self, page):
        offered = [value for value, _label in page.get(LIST + "new/").context["form"].fields["scopes"].choices]
        assert offered == [
            *("memory:read", "memory:write", "profile:read", "profile:write"),
            *("learning:read", "learning:write", "trading:read", "trading:write"),
        ]

    @table(
        "wrong",
        [
            {"scopes": []},
            {"scopes": ["operator"]},
            {"scopes": ["everything"]},
            {"label": ""},
            {"label": "x" * 81},
            {"label": "a\0b"},
            {"expires_days": "12345"},
            {"expires_days": ""},
            {"networks": "somewhere"},
        ],
    )
    def test_shows_the_form_again_with_the_reason(self, page, wrong):
        response = page.post(LIST + "new/", FORM | wrong)
        assert 'role="alert"' in text_of(response, 422)
        assert not ApiKey.objects.exists()

    def test_offers_the_scope_operator_to_operators_only(self, client, ana, olga):
        for user, offered in ((ana, False), (olga, True)):
            client.force_login(user)
            assert ('value="operator"' in text_of(client.get(LIST + "new/"))) is offered

    def test_says_what_to_do_while_there_is_none(self, page):
        assert reverse("access:key_new") in text_of(page.get(LIST))


class TestRevoking:
    def test_asks_for_the_word_and_then_closes_the_key(self, page, ana):
        key = make_key(ana)
        address = f"{LIST}{key.prefix}/revoke/"
        assert page.get(address).status_code == 200
        for word in ("", "no", "revoked"):
            assert page.post(address, {"word": word}).status_code == 422
        assert ApiKey.objects.get().revoked_at is None
        response = page.post(address, {"word": "Revoke"})
        assert (response.status_code, response["Location"]) == (303, LIST)
        assert ApiKey.objects.get().revoked_at is not None
        assert "Revoked" in text_of(page.get(LIST))
        assert page.get(address).status_code == 409


def test_lists_own_keys_only_in_a_few_queries(page, ana, ben, django_assert_max_num_queries):
    for _ in range(5):
        make_key(ana)
    foreign = make_key(ben)
    with django_assert_max_num_queries(6):
        shown = text_of(page.get(LIST))
    assert shown.count("ana&#x27;s") == 5
    assert foreign.prefix not in shown
