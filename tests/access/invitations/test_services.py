"""Links by which somebody chooses a password."""

import json
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session

from minara_site.access.invitations.services import accept_invitation, invite, open_invitation, renew_link
from minara_site.access.models import Invitation, User
from minara_site.access.policy import Role
from minara_site.access.users import disable_user, enable_user, get_user
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.errors import Conflict, Gone, Invalid, NotFound
from tests.kit.tables import table

pytestmark = pytest.mark.django_db
PASSWORD = "staple tango rhubarb"


def make(now, role=Role.USER):
    return invite(username="kim", role=role, now=now, actor="user:1").token


def accept(token, now, password=PASSWORD):
    return accept_invitation(token=token, display_name="Kim L", password=password, now=now)


def test_makes_somebody_who_can_do_nothing_yet(now):
    link = invite(username="kim", role=Role.SUPPORT, now=now, actor="user:1")
    assert (link.user.role, link.user.has_usable_password()) == (Role.SUPPORT, False)
    assert link.expires_at == now + timedelta(days=7)
    assert open_invitation(link.token, now=now).user == link.user
    made = AuditEntry.objects.filter(tool_call="invitation_made").get()
    assert (made.actor, made.owner_id, made.details) == ("user:1", link.user.pk, {"username": "kim"})


def test_keeps_the_hash_only(now):
    token = make(now)
    assert len(token) >= 43
    kept = [list(Invitation.objects.values()), list(AuditEntry.objects.values())]
    assert token not in json.dumps(kept, default=str)


@pytest.mark.database
def test_accepting_sets_name_and_password_once(now):
    token = make(now)
    user = accept(token, now)
    assert (user.get_short_name(), user.check_password(PASSWORD)) == ("Kim L", True)
    assert AuditEntry.objects.get(tool_call="invitation_accepted").actor == f"user:{user.pk}"
    with pytest.raises(Gone):
        accept(token, now, password="another good password")
    assert User.objects.get(pk=user.pk).check_password(PASSWORD)


@table("password", ["", "short", "123456789012345", "kimkimkimkim"])
def test_a_weak_password_leaves_the_link_open(now, password):
    token = make(now)
    with pytest.raises(Invalid):
        accept(token, now, password="kim" if password == "kimkimkimkim" else password)
    assert not get_user("kim").has_usable_password()
    accept(token, now)


@pytest.mark.database
def test_a_new_link_takes_the_place_of_the_one_before(now):
    old = make(now)
    new = renew_link(username="kim", now=now, actor="test").token
    with pytest.raises(NotFound):
        open_invitation(old, now=now)
    accept(new, now)


def test_a_link_ends_after_a_week_or_with_its_user(now):
    token = make(now)
    last = now + timedelta(days=7)
    open_invitation(token, now=last - timedelta(seconds=1))
    with pytest.raises(Gone):
        accept(token, last)
    disable_user(username="kim", now=now, actor="test")
    with pytest.raises(Gone):
        accept(token, now)
    with pytest.raises(Conflict):
        renew_link(username="kim", now=now, actor="test")
    enable_user(username="kim", now=now, actor="test")
    with pytest.raises(Gone):
        accept(token, now)


def test_a_lost_password_works_until_the_link_is_used_and_then_every_session_ends(client, ana, now):
    client.force_login(ana)
    token = renew_link(username="ana", now=now, actor="test").token
    assert get_user("ana").check_password("correct horse battery")
    assert Session.objects.exists()
    accept(token, now)
    assert get_user("ana").check_password(PASSWORD)
    assert not Session.objects.exists()
