"""The people of an instance."""

import pytest
from django.contrib.sessions.models import Session
from django.db import IntegrityError

from minara_site.access.keys.services import create_key
from minara_site.access.models import ApiKey, User
from minara_site.access.policy import Role
from minara_site.access.users import (
    change_role,
    create_user,
    disable_user,
    enable_user,
    end_sessions_of,
    get_user,
    list_users,
)
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.errors import Conflict, Invalid, NotFound
from tests.kit.tables import table

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"


def create(now, username="kim", role=Role.USER, password=PASSWORD):
    return create_user(username=username, role=role, password=password, now=now, actor="test")


class TestDefaultUser:
    def test_is_there_from_the_start_and_cannot_sign_in(self):
        default = get_user("default")
        assert (default.username, default.role, default.is_active) == ("default", Role.USER, True)
        assert not default.has_usable_password()

    def test_is_found_by_its_name_after_it_was_renamed(self):
        User.objects.filter(is_default=True).update(username="mei")
        assert get_user("default") == get_user("mei")

    @pytest.mark.database
    def test_is_the_only_one(self):
        with pytest.raises(IntegrityError):
            User.objects.create(username="second", is_default=True)


class TestCreating:
    @table("role", [Role.USER, Role.OPERATOR, Role.SUPPORT])
    def test_gives_the_role(self, now, role):
        create(now, role=role)
        assert get_user("kim").role is role
        assert User.objects.get(username="kim").role is role
        assert AuditEntry.objects.get(tool_call="user_created").details == {"username": "kim", "role": role}

    @table(
        "name",
        ["", "  ", "default", "Default", "all", "ALL", "..", ".hidden", "-x", "a/b", "a b", "a\0", "x" * 151, "\ud800"],
    )
    def test_refuses_a_name_that_cannot_be_one(self, now, name):
        with pytest.raises(Invalid) as caught:
            create(now, username=name)
        assert caught.value.errors[0].field == "username"

    @pytest.mark.database
    @table("name", ["kim", "Kim", "KIM", "\uff4bim"])
    def test_refuses_a_name_that_is_taken_in_any_case(self, now, name):
        create(now)
        with pytest.raises(Invalid):
            create(now, username=name)

    @pytest.mark.database
    def test_keeps_names_apart_in_the_database_too(self, now):
        create(now)
        with pytest.raises(IntegrityError):
            User.objects.create(username="KIM")

    def test_takes_names_of_any_script_and_no_password(self, now):
        made = create(now, username="李明", password=None)
        assert (made.username, made.has_usable_password()) == ("李明", False)

    @table("password", ["", "short", "123456789012345", "passwordpassword1"[:8], "kimkimkimkim"])
    def test_refuses_a_weak_password(self, now, password):
        with pytest.raises(Invalid) as caught:
            create(now, username="kimkimkimkim", password=password)
        assert caught.value.errors[0].field == "password"
        assert not User.objects.filter(username="kimkimkimkim").exists()


class TestDisabling:
    def test_ends_sessions_and_keys_at_once_and_for_good(self, client, ana, ben, now):
        client.force_login(ana)
        create_key(user=ana, scopes=["memory:read"], now=now, actor="test")
        create_key(user=ben, scopes=["memory:read"], now=now, actor="test")
        disable_user(username="ana", now=now, actor="test")
        assert not Session.objects.exists()
        assert ApiKey.objects.get(user=ana).revoked_at == now
        assert ApiKey.objects.get(user=ben).revoked_at is None
        assert AuditEntry.objects.filter(tool_call="user_disabled").count() == 1
        disable_user(username="ana", now=now, actor="test")
        assert AuditEntry.objects.filter(tool_call="user_disabled").count() == 1

    @pytest.mark.database
    def test_keeps_one_operator(self, olga, now):
        other = create(now, role=Role.OPERATOR)
        disable_user(username="olga", now=now, actor="test")
        with pytest.raises(Conflict):
            disable_user(username=other.username, now=now, actor="test")
        assert User.objects.get(pk=other.pk).is_active
        disable_user(username="olga", now=now, actor="test")


class TestEnabling:
    def test_lets_somebody_in_again_without_their_old_keys(self, ana, now):
        disable_user(username="default", now=now, actor="test")
        assert enable_user(username="default", now=now, actor="test").is_active
        create_key(user=ana, scopes=["memory:read"], now=now, actor="test")
        disable_user(username="ana", now=now, actor="test")
        for _ in range(2):
            assert enable_user(username="ana", now=now, actor="user:1").is_active
        assert ApiKey.objects.get(user=ana).revoked_at == now
        entry = AuditEntry.objects.get(tool_call="user_enabled", owner=ana)
        assert (entry.actor, entry.owner_id, entry.details) == ("user:1", ana.pk, {"username": "ana"})


class TestRoles:
    @table("before", [Role.USER, Role.SUPPORT, Role.OPERATOR])
    @table("after", [Role.USER, Role.SUPPORT, Role.OPERATOR])
    def test_takes_the_place_of_the_one_before(self, olga, now, before, after):
        create(now, role=before)
        assert change_role(username="kim", role=after, now=now, actor="user:1").role is after
        assert get_user("kim").role is after
        entries = AuditEntry.objects.filter(tool_call="role_changed")
        changed = {"username": "kim", "from": before, "to": after}
        assert [entry.details for entry in entries] == ([] if before is after else [changed])

    @pytest.mark.database
    def test_keeps_one_operator_who_can_sign_in(self, olga, now):
        create(now, role=Role.OPERATOR, password=None)  # nobody can sign in as this one
        with pytest.raises(Conflict, match="last operator"):
            change_role(username="olga", role=Role.USER, now=now, actor="test")
        assert get_user("olga").role is Role.OPERATOR
        create(now, username="lee", role=Role.OPERATOR)
        assert change_role(username="olga", role=Role.USER, now=now, actor="test").role is Role.USER

    def test_knows_only_who_is_there(self, now):
        for act in (enable_user, end_sessions_of, disable_user):
            with pytest.raises(NotFound):
                act(username="nobody", now=now, actor="test")
        with pytest.raises(NotFound):
            change_role(username="nobody", role=Role.USER, now=now, actor="test")


@pytest.mark.database
def test_lists_everybody_by_name_in_one_query(ana, olga, sam, django_assert_num_queries):
    with django_assert_num_queries(1):
        found = [(user.username, user.role) for user in list_users()]
    people = {"ana": Role.USER, "default": Role.USER, "olga": Role.OPERATOR, "sam": Role.SUPPORT}
    assert found == list(people.items())
