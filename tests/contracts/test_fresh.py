"""What asks for a sign-in of the last ten minutes is done by nobody else: no key, no tool, no old session (W-11)."""

import pytest
from allauth.account.authentication import AUTHENTICATION_METHODS_SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.db import transaction

from minara_site.access.policy import POLICY, Act, Role, Scope, permits
from tests.contracts.bodies import body_of
from tests.contracts.permissions import OPEN, OPERATIONS, PAGES, TOOLS
from tests.kit.world import changed_tables, cookies_of, database_rows, fill

FRESH = {act for act, rule in POLICY.items() if rule.fresh}
DOORS = [(method, route) for route, row in PAGES.items() if row.act in FRESH for method in row.methods]


def test_the_dangerous_acts_are_among_them():
    assert {Act.KEY_CREATE, Act.SECURITY_CHANGE, Act.USERS_CHANGE, Act.WRITES_ROLL_BACK} <= FRESH


@pytest.mark.parametrize("act", sorted(FRESH))
def test_no_key_does_it_with_every_scope(act):
    assert not any(permits(act, role, frozenset(Scope)) for role in Role)


def test_no_operation_and_no_tool_asks_for_it():
    assert not FRESH & {act for act, _audience in (*OPERATIONS.values(), *TOOLS.values())}


@pytest.fixture
def old(world):
    """Return a way to knock with the cookies of a session that proved who is there long ago."""

    def knock(user, method, route):
        headers = cookies_of(user)
        session = SessionStore(headers["Cookie"].rpartition("=")[2])
        session[AUTHENTICATION_METHODS_SESSION_KEY] = [{"method": "password", "at": session["begun_at"] - 600}]
        session.save()
        before = database_rows()
        body = body_of(method, route, world.ana.samples)
        answer = world.wire.send(method, fill(route, world.ana.samples), body, **headers)
        return answer, changed_tables(before, database_rows())

    return knock


@pytest.mark.parametrize(("method", "route"), DOORS)
def test_an_old_session_is_sent_to_confirm_and_does_nothing(world, old, method, route):
    audience = PAGES[route].methods[method]
    user = world.ana.user if audience["ana"] is OPEN else type(world.ana.user).objects.get(username="olga")
    with transaction.atomic():
        answer, changed = old(user, method, route)
        transaction.set_rollback(True)
    assert answer["Location"].startswith("/reauthenticate")
    assert changed == []
