"""Making, using and closing keys."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from minara_site.access.keys.core import generate_key, hash_key
from minara_site.access.keys.services import authenticate_key, create_key, get_key, list_keys, revoke_key
from minara_site.access.models import ApiKey, User
from minara_site.access.policy import AGENT_SCOPES, Act, Role, Scope
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.errors import Invalid, NotFound, Refused, Unauthenticated
from tests.kit.tables import table

pytestmark = pytest.mark.django_db
HOME = "192.0.2.1"
READ = [Scope.MEMORY_READ]


def make_key(user, now, **options):
    return create_key(user=user, scopes=options.pop("scopes", READ), now=now, actor="test", **options)


def refusal(text, now, address=HOME):
    with pytest.raises(Unauthenticated) as caught:
        authenticate_key(text, address=address, now=now)
    return caught.value.problem_code


class TestMaking:
    def test_stores_the_hash(self, ana, now):
        key = make_key(ana, now)
        assert ApiKey.objects.get().secret_sha256 == hash_key(key.text)

    def test_lives_90_days_unless_asked_otherwise(self, ana, now):
        for options, days in (({}, 90), ({"expires_days": 7}, 7), ({"expires_days": 0}, 0)):
            key = ApiKey.objects.get(prefix=make_key(ana, now, **options).prefix)
            assert key.expires_at == (now + timedelta(days=days) if days else None)

    def test_keeps_scopes_once_and_in_order(self, ana, now):
        make_key(ana, now, scopes=["memory:write", "memory:read", "memory:write"])
        assert ApiKey.objects.get().scopes == ["memory:read", "memory:write"]

    def test_writes_an_audit_row(self, ana, now):
        key = make_key(ana, now)
        entry = AuditEntry.objects.get(tool_call="api_key_created")
        assert (entry.owner_id, entry.details["key"]) == (ana.pk, key.prefix)

    @table(
        ("options", "field"),
        [
            ({"scopes": []}, "scopes"),
            ({"scopes": ["memory:read", "everything"]}, "scopes"),
            ({"scopes": ["operator"]}, "scopes"),
            ({"expires_days": -1}, "expires_days"),
            ({"expires_days": 3651}, "expires_days"),
            ({"networks": "10.0.0.0/40"}, "networks"),
            ({"label": "x" * 81}, "label"),
            ({"label": "a\0b"}, "label"),
        ],
    )
    def test_refuses_a_wrong_wish_and_makes_nothing(self, ana, now, options, field):
        with pytest.raises(Invalid) as caught:
            make_key(ana, now, **options)
        assert [error.field for error in caught.value.errors] == [field]
        assert not ApiKey.objects.exists()

    def test_gives_the_scope_operator_to_operators_only(self, olga, sam, now):
        make_key(olga, now, scopes=["operator"])
        with pytest.raises(Invalid):
            make_key(sam, now, scopes=["operator"])


class TestUsing:
    def test_names_the_caller(self, olga, now):
        key = make_key(olga, now, scopes=["memory:read", "operator"])
        principal = authenticate_key(key.text, address=HOME, now=now)
        assert principal.user == olga
        assert principal.role is Role.OPERATOR
        assert principal.scopes == {Scope.MEMORY_READ, Scope.OPERATOR}
        assert principal.actor == f"key:{key.prefix}"

    @pytest.mark.database
    def test_notes_its_use_within_a_minute_and_writes_at_most_once_a_minute(self, ana, now):
        key = make_key(ana, now)
        for seconds, noted in ((0, 0), (30, 0), (59, 0), (60, 60), (61, 60), (119, 60), (120, 120)):
            authenticate_key(key.text, address=HOME, now=now + timedelta(seconds=seconds))
            assert ApiKey.objects.get().last_used_at == now + timedelta(seconds=noted)

    def test_takes_away_a_role_at_once(self, olga, now):
        key = make_key(olga, now, scopes=["operator"])
        olga.groups.clear()
        principal = authenticate_key(key.text, address=HOME, now=now)
        assert principal.role is Role.USER
        assert not principal.is_operator

    def test_opens_nothing_from_another_network(self, ana, now):
        key = make_key(ana, now, networks="10.0.0.0/8, 2001:db8::/32")
        assert authenticate_key(key.text, address="10.9.9.9", now=now).user == ana
        with pytest.raises(Refused) as caught:
            authenticate_key(key.text, address=HOME, now=now)
        assert caught.value.problem_code == "key_network"
        assert ApiKey.objects.get().last_used_at == now

    def test_says_why_only_to_who_has_the_whole_key(self, ana, now):
        key = make_key(ana, now, expires_days=1)
        later = now + timedelta(days=1)
        other = generate_key("live").text
        assert authenticate_key(key.text, address=HOME, now=later - timedelta(microseconds=1)).user == ana
        assert refusal(key.text, later) == "key_expired"
        stolen_id = other.replace(other.split("_")[2], key.prefix)
        assert refusal(stolen_id, later) == refusal(other, later) == refusal("", later) == "key_unknown"
        revoke_key(prefix=key.prefix, now=now, actor="test")
        assert refusal(key.text, now) == "key_revoked"
        assert refusal(stolen_id, now) == "key_unknown"

    def test_refuses_another_keys_secret_behind_a_known_id(self, ana, ben, now):
        from minara_site.access.keys.core import checksum

        ours, theirs = make_key(ana, now), make_key(ben, now)
        body = f"mnr_live_{ours.prefix}_{theirs.text.split('_')[3][:43]}"
        assert refusal(body + checksum(body), now) == "key_unknown"

    def test_ends_with_its_user(self, ana, now):
        key = make_key(ana, now)
        User.objects.filter(pk=ana.pk).update(is_active=False)
        assert refusal(key.text, now) == "user_disabled"

    def test_takes_the_same_work_for_an_unknown_id_as_for_a_wrong_secret(self, ana, now, monkeypatch):
        from minara_site.access.keys import services
        from minara_site.access.keys.core import checksum, is_same_key

        compared = []
        monkeypatch.setattr(
            services,
            "is_same_key",
            lambda *pair: compared.append(pair) or is_same_key(*pair),
        )

        known = make_key(ana, now)
        body = f"mnr_live_{known.prefix}_{'A' * 43}"
        wrong_secret, unknown = body + checksum(body), generate_key("live").text

        def work(text):
            with CaptureQueriesContext(connection) as queries:
                refusal(text, now)
            return [query["sql"].split("WHERE")[0] for query in queries]

        assert work(wrong_secret) == work(unknown)
        assert [(text, len(sha256)) for text, sha256 in compared] == [(wrong_secret, 64), (unknown, 64)]

    def test_ignores_a_stored_scope_that_no_longer_exists(self, ana, now):
        key = make_key(ana, now)
        ApiKey.objects.update(scopes=["memory:read", "memory:burn"])
        assert authenticate_key(key.text, address=HOME, now=now).scopes == {Scope.MEMORY_READ}


class TestClosing:
    @pytest.mark.database
    def test_works_at_once_and_twice(self, ana, now):
        key = make_key(ana, now)
        revoke_key(prefix=key.prefix, user=ana, now=now, actor="test")
        revoke_key(prefix=key.prefix, user=ana, now=now + timedelta(hours=1), actor="test")
        assert ApiKey.objects.get().revoked_at == now
        assert AuditEntry.objects.filter(tool_call="api_key_revoked").count() == 1
        assert refusal(key.text, now) == "key_revoked"

    def test_leaves_other_peoples_keys_alone(self, ana, ben, olga, now):
        key = make_key(ana, now)
        for stranger in (ben, olga):
            with pytest.raises(NotFound):
                revoke_key(prefix=key.prefix, user=stranger, now=now, actor="test")
            with pytest.raises(NotFound):
                get_key(prefix=key.prefix, user=stranger)
        assert authenticate_key(key.text, address=HOME, now=now).user == ana

    @pytest.mark.database
    def test_lists_newest_first(self, ana, ben, now):
        first, second, third = make_key(ana, now), make_key(ben, now), make_key(ana, now + timedelta(seconds=1))
        assert [key.prefix for key in list_keys()] == [third.prefix, second.prefix, first.prefix]
        assert [key.prefix for key in list_keys(ana)] == [third.prefix, first.prefix]


class TestGatewayToken:
    @pytest.fixture
    def token(self, settings):
        settings.MINARA = settings.MINARA.model_copy(update={"gateway_auth_token": "gateway-secret-1"})
        return "gateway-secret-1"

    def test_is_a_key_of_the_default_user_with_all_agent_scopes(self, db, token, now):
        principal = authenticate_key(token, address=HOME, now=now)
        assert principal.user == User.objects.get(is_default=True)
        assert principal.scopes == AGENT_SCOPES
        assert principal.actor == "key:gateway"

    def test_never_reaches_other_owners(self, db, token, now, ana):
        from django.contrib.auth.models import Group

        default = User.objects.get(is_default=True)
        default.groups.add(Group.objects.get(name="operators"))
        principal = authenticate_key(token, address=HOME, now=now)
        assert principal.role is Role.OPERATOR
        with pytest.raises(NotFound):
            principal.reads(Act.MEMORY_READ, "ana")
        assert replace(principal, scopes=AGENT_SCOPES | {Scope.OPERATOR}).reads(Act.MEMORY_READ, "ana") == ana

    def test_follows_the_default_user(self, db, token, now):
        User.objects.filter(is_default=True).update(is_active=False)
        assert refusal(token, now) == "user_disabled"

    def test_is_off_unless_set(self, db, now):
        assert refusal("", now) == refusal("gateway-secret-1", now) == "key_unknown"
