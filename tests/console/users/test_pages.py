"""What operators see of people, and what they can do to them."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from minara_site.access.invitations.services import invite
from minara_site.access.keys.services import create_key
from minara_site.access.models import AccessEntry, ApiKey, Invitation, User
from minara_site.access.policy import Role
from minara_site.access.security.factors import add_app, has_factor
from minara_site.access.users import get_user
from minara_site.kernel.audit_log.models import AuditEntry
from tests.kit.fixtures import make_user
from tests.kit.page import text_of
from tests.kit.tables import table

pytestmark = pytest.mark.django_db
LIST = "/ops/users/"
LINK = re.compile(r"http://127\.0\.0\.1:8000/invite/([\w-]{43})/")


def names_on(response):
    return [row["person"].user.username for row in response.context["page"].rows]


def done(response, to):
    assert (response.status_code, response["Location"]) == (303, to)


class TestList:
    @pytest.fixture
    def people(self, olga, ana, ben, sam):
        invite(username="kim", role=Role.SUPPORT, now=timezone.now(), actor="test")
        User.objects.filter(pk=ben.pk).update(is_active=False, display_name="Benedict")

    @pytest.mark.database
    @table(
        ("query", "names"),
        [
            ("", ["ana", "ben", "default", "kim", "olga", "sam"]),
            ("?q=AN", ["ana"]),
            ("?q=benedi", ["ben"]),
            ("?state=active", ["ana", "olga", "sam"]),
            ("?state=invited", ["kim"]),
            ("?state=no_password", ["default"]),
            ("?state=disabled", ["ben"]),
            ("?role=operator&role=support", ["kim", "olga", "sam"]),
            ("?role=user&state=active", ["ana"]),
            ("?factor=yes", []),
            ("?factor=yes&factor=no&q=sam", ["sam"]),
        ],
    )
    def test_finds_who_is_asked_for(self, operator_page, people, query, names):
        assert names_on(operator_page.get(LIST + query)) == names

    def test_says_what_each_has_open(self, operator_page, ana):
        now = timezone.now()
        create_key(user=ana, scopes=["memory:read"], now=now, actor="test")
        create_key(user=ana, scopes=["memory:read"], now=now - timedelta(days=100), actor="test")  # has ended
        rows = {row["person"].user.username: row["person"] for row in operator_page.get(LIST).context["page"].rows}
        assert (rows["ana"].keys, rows["ana"].sessions, rows["ana"].status) == (1, 0, "active")
        assert (rows["olga"].keys, rows["olga"].sessions) == (0, 1)

    def test_takes_as_many_queries_for_many_people(self, operator_page, django_assert_max_num_queries):
        for number in range(30):
            make_user(f"user{number}")
        with django_assert_max_num_queries(9):
            assert len(names_on(operator_page.get(LIST))) == 32


class TestOne:
    def test_shows_sessions_keys_and_trails_and_tells_its_owner(self, operator_page, olga, ana):
        key = create_key(
            user=ana,
            scopes=["memory:read"],
            label="Laptop <b>",
            now=timezone.now(),
            actor="test",
        )
        page = text_of(operator_page.get(f"{LIST}{ana.pk}/"))
        for part in (key.prefix, "Laptop &lt;b&gt;", "/ops/access-log/?viewer=ana", "/ops/access-log/?owner=ana"):
            assert part in page
        assert ana.password not in page
        looks = AccessEntry.objects.filter(viewer=olga, owner=ana, kind="account")
        assert looks.count() == 1
        text_of(operator_page.get(f"{LIST}{olga.pk}/"))
        assert AccessEntry.objects.count() == 1

    def test_answers_404_for_nobody(self, operator_page):
        for path in ("", "role/", "disable/", "link/"):
            assert operator_page.get(f"{LIST}987654/{path}").status_code == 404


class TestInviting:
    def test_shows_the_link_once_and_it_works(self, operator_page, client):
        page = text_of(operator_page.post(LIST + "invite/", {"username": "kim", "role": "support"}), 201)
        (token,) = set(LINK.findall(page))
        assert get_user("kim").role is Role.SUPPORT
        assert token not in text_of(operator_page.get(f"{LIST}{get_user('kim').pk}/"))
        assert "kim" in text_of(client.get(f"/invite/{token}/"))

    @table("wrong", [{"username": ""}, {"username": "ana"}, {"username": "all"}, {"role": "admin"}])
    def test_shows_the_form_again_with_the_reason(self, operator_page, ana, wrong):
        text = text_of(operator_page.post(LIST + "invite/", {"username": "kim", "role": "user"} | wrong), 422)
        assert 'role="alert"' in text
        assert not Invitation.objects.exists()

    def test_makes_a_new_link_in_the_place_of_the_old(self, operator_page, ana):
        page = f"{LIST}{ana.pk}/link/"
        assert "signed out everywhere" in text_of(operator_page.get(page))
        assert not Invitation.objects.exists()
        first, second = (LINK.findall(text_of(operator_page.post(page), 201))[0] for _ in range(2))
        assert first != second
        assert Invitation.objects.count() == 1
        User.objects.filter(pk=ana.pk).update(is_active=False)
        assert operator_page.post(page).status_code == 409


class TestChanges:
    def test_disables_after_the_word_and_enables(self, operator_page, olga, ana):
        create_key(user=ana, scopes=["memory:read"], now=timezone.now(), actor="test")
        page = f"{LIST}{ana.pk}/disable/"
        text_of(operator_page.get(page))
        for word in ("", "no", "disabled"):
            assert operator_page.post(page, {"word": word}).status_code == 422
        assert get_user("ana").is_active
        done(operator_page.post(page, {"word": "Disable"}), f"{LIST}{ana.pk}/")
        assert not get_user("ana").is_active
        assert ApiKey.objects.get().revoked_at
        text_of(operator_page.get(f"{LIST}{ana.pk}/enable/"))
        done(operator_page.post(f"{LIST}{ana.pk}/enable/"), f"{LIST}{ana.pk}/")
        assert get_user("ana").is_active
        entries = AuditEntry.objects.filter(tool_call__in=["user_disabled", "user_enabled"])
        assert {(entry.actor, entry.owner_id) for entry in entries} == {(f"user:{olga.pk}", ana.pk)}

    @table(
        ("path", "tool_call"), [("sessions/end/", "sessions_ended"), ("second-factor/reset/", "second_factor_reset")]
    )
    def test_ends_sessions_and_resets_the_factor(self, operator_page, olga, ana, path, tool_call):
        text_of(operator_page.get(f"{LIST}{ana.pk}/{path}"))
        assert not AuditEntry.objects.filter(tool_call=tool_call).exists()
        done(operator_page.post(f"{LIST}{ana.pk}/{path}", {"word": "reset"}), f"{LIST}{ana.pk}/")
        assert AuditEntry.objects.get(tool_call=tool_call).actor == f"user:{olga.pk}"

    @table("path", ["sessions/end/", "disable/"])
    def test_who_ends_their_own_sessions_signs_in_anew(self, operator_page, olga, path):
        make_user("otto", group="operators")
        answer = operator_page.post(f"{LIST}{olga.pk}/{path}", {"word": "disable"})
        assert (answer.status_code, answer["Location"]) == (302, "/login")
        assert operator_page.get("/").status_code == 302

    def test_an_operator_does_not_lose_their_own_second_factor_here(self, operator_page, olga):
        add_app(
            user=olga,
            secret="A" * 32,
            session_key=operator_page.session.session_key,
            now=timezone.now(),
            actor="test",
        )
        assert "second-factor/reset/" not in text_of(operator_page.get(f"{LIST}{olga.pk}/"))
        answer = operator_page.post(f"{LIST}{olga.pk}/second-factor/reset/", {"word": "reset"})
        assert "Add another one, then remove this one." in text_of(answer, 409)
        assert has_factor(olga)

    def test_revokes_a_key_of_this_person_only(self, operator_page, ana, ben):
        key = create_key(user=ana, scopes=["memory:read"], now=timezone.now(), actor="test").prefix
        assert operator_page.get(f"{LIST}{ben.pk}/keys/{key}/revoke/").status_code == 404
        page = f"{LIST}{ana.pk}/keys/{key}/revoke/"
        assert f'href="{LIST}{ana.pk}/"' in text_of(operator_page.get(page))
        done(operator_page.post(page, {"word": "revoke"}), f"{LIST}{ana.pk}/")
        assert ApiKey.objects.get().revoked_at
        assert operator_page.get(page).status_code == 409


class TestRole:
    def test_of_somebody_else_changes_at_once(self, operator_page, ana):
        text_of(operator_page.get(f"{LIST}{ana.pk}/role/"))
        done(operator_page.post(f"{LIST}{ana.pk}/role/", {"role": "support"}), f"{LIST}{ana.pk}/")
        assert get_user("ana").role is Role.SUPPORT
        assert operator_page.post(f"{LIST}{ana.pk}/role/", {"role": "anonymous"}).status_code == 422

    def test_is_not_given_up_by_accident(self, operator_page, olga):
        make_user("oscar", group="operators")
        page = f"{LIST}{olga.pk}/role/"
        for word in ("", "yes"):
            assert "Type the word resign" in text_of(operator_page.post(page, {"role": "user", "word": word}), 422)
        assert get_user("olga").role is Role.OPERATOR
        done(operator_page.post(page, {"role": "operator"}), "/")
        done(operator_page.post(page, {"role": "user", "word": "resign"}), "/")
        assert get_user("olga").role is Role.USER
        assert operator_page.get(LIST).status_code == 403

    def test_of_the_last_operator_stays(self, operator_page, olga):
        assert "last operator" in text_of(
            operator_page.post(f"{LIST}{olga.pk}/role/", {"role": "user", "word": "resign"}),
            409,
        )
        assert operator_page.post(f"{LIST}{olga.pk}/disable/", {"word": "disable"}).status_code == 409
        assert get_user("olga").role is Role.OPERATOR
