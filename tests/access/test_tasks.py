"""Expired sessions leave the database; live ones stay."""

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session

from minara_site.access.tasks import clear_expired_sessions

pytestmark = pytest.mark.django_db


@pytest.mark.database
def test_deletes_only_what_has_expired(now):
    Session.objects.create(session_key="old", session_data="x", expire_date=now - timedelta(seconds=1))
    Session.objects.create(session_key="live", session_data="x", expire_date=now)
    assert clear_expired_sessions(now=now) == {"deleted": 1}
    assert [each.session_key for each in Session.objects.all()] == ["live"]
