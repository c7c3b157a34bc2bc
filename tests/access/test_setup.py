"""The link that makes the first operator."""

import json

import pytest
from django.urls import reverse

from minara_site.access.models import SetupLink, User
from minara_site.access.policy import Role
from minara_site.access.setup import claim_setup, issue_setup_link, open_setup_link
from minara_site.access.users import get_user
from minara_site.console.account import views
from minara_site.kernel.errors import Gone, Invalid, NotFound
from tests.kit.tables import table

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"


def claim(token, now, username="mei", password=PASSWORD):
    return claim_setup(token=token, username=username, display_name="Mei Lin", password=password, now=now)


class TestLink:
    def test_is_stored_as_a_hash_only(self, now):
        token = issue_setup_link(now=now)
        assert len(token) >= 43
        assert token not in json.dumps(list(SetupLink.objects.values()), default=str)

    def test_takes_the_place_of_the_one_before(self, now):
        old, new = issue_setup_link(now=now), issue_setup_link(now=now)
        with pytest.raises(NotFound):
            open_setup_link(old)
        open_setup_link(new)

    def test_is_not_made_when_somebody_operates(self, olga, now):
        assert issue_setup_link(now=now) is None

    @pytest.mark.database
    def test_ends_when_an_operator_comes_another_way(self, now, request):
        token = issue_setup_link(now=now)
        request.getfixturevalue("olga")
        with pytest.raises(Gone):
            claim(token, now)
        assert not get_user("default").has_usable_password()


class TestClaim:
    def test_makes_the_default_user_the_operator_under_an_own_name(self, now):
        default = get_user("default")
        user = claim(issue_setup_link(now=now), now)
        assert user.pk == default.pk == get_user("default").pk == get_user("mei").pk
        assert get_user("mei").role is Role.OPERATOR
        assert user.check_password(PASSWORD)
        assert user.get_short_name() == "Mei Lin"
        assert issue_setup_link(now=now) is None

    def test_may_keep_the_name_default(self, now):
        assert claim(issue_setup_link(now=now), now, username="default").username == "default"

    @pytest.mark.database
    def test_works_once(self, now):
        token = issue_setup_link(now=now)
        claim(token, now)
        with pytest.raises(Gone):
            claim(token, now, username="eve")
        assert User.objects.get(is_default=True).username == "mei"

    @table(("username", "password"), [("all", PASSWORD), ("ana", PASSWORD), ("..", PASSWORD), ("mei", "short")])
    def test_changes_nothing_when_something_is_wrong(self, ana, now, username, password):
        token = issue_setup_link(now=now)
        with pytest.raises(Invalid):
            claim(token, now, username=username, password=password)
        assert get_user("default").username == "default"
        open_setup_link(token)


class TestPage:
    FORM = {"username": "mei", "display_name": "Mei", "password": PASSWORD, "password_again": PASSWORD}

    @pytest.fixture
    def token(self, now):
        return issue_setup_link(now=now)

    def get(self, client, token):
        return client.get(reverse("access:first_run", args=[token]))

    def post(self, client, token, **changes):
        return client.post("/welcome/", self.FORM | {"token": token} | changes)

    def test_signs_the_operator_in_and_goes_home(self, client, token):
        assert token in self.get(client, token).content.decode()
        response = self.post(client, token)
        assert (response.status_code, response["Location"]) == (303, "/")
        assert client.session["_auth_user_id"] == str(get_user("mei").pk)
        assert get_user("mei").last_visit_at
        assert client.get("/settings/keys/new/").status_code == 200  # it counts as a sign-in by password

    def test_says_so_to_whoever_lost_the_race_for_it(self, client, token, now, monkeypatch):
        monkeypatch.setattr(views, "open_setup_link", lambda _token: None)  # a moment before the other claimed
        claim(token, now)
        chosen = {"username": "late", "password": PASSWORD, "password_again": PASSWORD}
        response = client.post(reverse("access:claim"), {"token": token, **chosen})
        assert response.status_code == 410
        assert "This link was used" in response.content.decode()

    def test_says_what_to_do_with_a_used_or_unknown_link(self, client, token):
        self.post(client, token)
        client.logout()
        assert self.get(client, token).status_code == self.post(client, token).status_code == 410
        assert self.get(client, "x" * 43).status_code == self.post(client, "x" * 43).status_code == 404
        assert client.post("/welcome/", self.FORM).status_code == 404
        page = self.get(client, token).content.decode()
        assert "This link was used" in page
        assert f'href="{reverse("account_login")}"' in page

    def test_names_every_problem_at_once_and_goes_to_the_first(self, client, token):
        wrong = {"username": "all", "password": "short", "password_again": "other"}
        form = self.post(client, token, **wrong).context["form"]
        assert set(form.errors) == set(wrong)
        assert [name for name, field in form.fields.items() if "autofocus" in field.widget.attrs] == ["username"]

    @table(
        "wrong",
        [
            {"username": "a\0b"},
            {"password": "short", "password_again": "short"},
            {"password_again": "something else"},
            {"display_name": "x" * 81},
        ],
    )
    def test_shows_the_form_again_with_the_reason(self, client, token, wrong, caplog):
        response = self.post(client, token, **wrong)
        assert response.status_code == 422
        page = response.content.decode()
        assert 'role="alert"' in page
        assert PASSWORD not in page
        assert token in page
        assert token not in caplog.text
        assert not get_user("default").has_usable_password()
