"""What a caller may do, and whose rows they reach."""

from dataclasses import replace

import pytest

from minara_site.access.models import User
from minara_site.access.policy import AGENT_SCOPES, POLICY, STAFF, Act, Role, Scope, permits
from minara_site.access.principal import ANONYMOUS, Principal
from minara_site.kernel.errors import NotFound, Refused, Unauthenticated
from minara_site.kernel.ownership import EVERYONE
from tests.kit.tables import table

ALL_SCOPES = frozenset(Scope)


def test_every_act_has_a_rule_and_the_scope_operator_is_no_agents():
    assert set(POLICY) == set(Act)
    assert ALL_SCOPES - {Scope.OPERATOR} == AGENT_SCOPES


@table("act", Act)
def test_a_key_never_does_more_than_its_user(act):
    for role in Role:
        if not permits(act, role, None):
            assert not permits(act, role, ALL_SCOPES)


@table("act", [Act.KEYS, Act.OWN_SETTINGS, Act.SIGN_OUT, Act.HOME, Act.DEMO])
def test_no_key_does_what_is_for_people(act):
    assert not any(permits(act, role, ALL_SCOPES) for role in Role)


class TestRequire:
    def test_sends_strangers_to_sign_in(self):
        with pytest.raises(Unauthenticated):
            ANONYMOUS.require(Act.HOME)
        ANONYMOUS.require(Act.SIGN_IN)

    def test_names_the_missing_scope(self):
        with pytest.raises(Refused, match="memory:write") as caught:
            Principal(
                User(pk=1),
                Role.USER,
                frozenset({Scope.MEMORY_READ}),
                "abcdefgh",
            ).require(Act.MEMORY_WRITE)
        assert caught.value.problem_code == "missing_scope"

    def test_names_the_role(self):
        with pytest.raises(Refused) as caught:
            Principal(User(pk=1), Role.SUPPORT).require(Act.MEMORY_READ)
        assert caught.value.problem_code == "role"


@pytest.mark.django_db
class TestReads:
    @pytest.fixture
    def people(self, ana, ben, olga, sam):
        return {
            "user": Principal(ana, Role.USER),
            "key": Principal(ana, Role.USER, AGENT_SCOPES, "aaaaaaaa"),
            "operator": Principal(olga, Role.OPERATOR),
            "operators agent": Principal(olga, Role.OPERATOR, AGENT_SCOPES, "bbbbbbbb"),
            "operators key": Principal(olga, Role.OPERATOR, ALL_SCOPES, "cccccccc"),
        }

    def test_begins_with_the_own_rows(self, people):
        for who in people.values():
            assert who.reads(Act.MEMORY_READ) == who.reads(Act.MEMORY_READ, "") == who.user
            assert who.reads(Act.MEMORY_READ, who.user.username) == who.user

    @table("who", ["operator", "operators key"])
    def test_takes_operators_to_others(self, people, who, ben):
        assert people[who].reads(Act.MEMORY_READ, "ben") == ben
        assert people[who].reads(Act.MEMORY_READ, "all") is EVERYONE
        assert people[who].reads(Act.MEMORY_READ, "default").is_default
        with pytest.raises(NotFound):
            people[who].reads(Act.MEMORY_READ, "nobody")

    @table("who", ["user", "key", "operators agent"])
    @table("name", ["ben", "all", "default", "nobody"])
    def test_hides_everybody_else_from_anybody_else(self, people, who, name):
        with pytest.raises(NotFound):
            people[who].reads(Act.MEMORY_READ, name)

    def test_keeps_operators_from_writing_for_others(self, people):
        with pytest.raises(NotFound):
            people["operator"].reads(Act.MEMORY_WRITE, "ben")

    def test_opens_single_objects_of_everybody_to_operators_in_the_browser(self, people):
        assert people["operator"].reaches(Act.MEMORY_READ) is EVERYONE
        assert people["operators key"].reaches(Act.MEMORY_READ) == people["operator"].user
        assert people["user"].reaches(Act.MEMORY_READ) == people["user"].user


@pytest.mark.django_db
def test_support_staff_name_an_owner_where_the_rule_says_so(ana, monkeypatch):
    sam = Principal(User(pk=99), Role.SUPPORT)
    with pytest.raises(NotFound):
        sam.reads(Act.HOME, ana.username)
    monkeypatch.setitem(POLICY, Act.HOME, replace(POLICY[Act.HOME], others=STAFF))
    assert sam.reads(Act.HOME, ana.username) == ana
    assert sam.reaches(Act.HOME) is EVERYONE
    assert not Principal(User(pk=98), Role.USER).reads_others(Act.HOME)
