"""What asks for a sign-in of the last ten minutes is done by nobody else: no key, no tool, no old session (W-11)."""

from allauth.account.authentication import AUTHENTICATION_METHODS_SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore

from minara_site.access.models import User
from minara_site.access.policy import POLICY, Act, Role, Scope, permits
from tests.contracts.bodies import body_of
from tests.contracts.judges import writes_in
from tests.contracts.permissions import OPEN, OPERATIONS, PAGES, TOOLS
from tests.contracts.sweep import captured
from tests.kit.tables import table
from tests.kit.world import cookies_of, fill

FRESH = {act for act, rule in POLICY.items() if rule.fresh}
ROWS = [(method, route) for route, row in PAGES.items() if row.act in FRESH for method in row.methods]


def test_no_key_and_no_tool_does_what_is_dangerous():
    assert {Act.KEY_CREATE, Act.SECURITY_CHANGE, Act.USERS_CHANGE, Act.WRITES_ROLL_BACK} <= FRESH
    assert not [act for act in FRESH for role in Role if permits(act, role, frozenset(Scope))]
    assert not FRESH & {act for act, _audience in (*OPERATIONS.values(), *TOOLS.values())}


@table(("method", "route"), ROWS)
def test_an_old_session_is_sent_to_confirm_and_does_nothing(world, method, route):
    audience = PAGES[route].methods[method]
    headers = cookies_of(world.ana.user if audience["ana"] is OPEN else User.objects.get(username="olga"))
    session = SessionStore(headers["Cookie"].rpartition("=")[2])
    session[AUTHENTICATION_METHODS_SESSION_KEY] = [{"method": "password", "at": session["begun_at"] - 600}]
    session.save()
    samples = world.ana.samples
    with captured() as statements:
        answer = world.wire.send(method, fill(route, samples), body_of(method, route, samples), **headers)
    assert answer["Location"].startswith("/reauthenticate")
    assert writes_in(statements) == []
