"""Who opened whose data."""

import pytest

from minara_site.access.access_log import list_access, log_access
from minara_site.access.models import AccessEntry
from minara_site.access.policy import Role
from minara_site.access.principal import Principal

pytestmark = pytest.mark.django_db


def test_names_the_operator_to_the_owner(ana, ben, olga, now):
    log_access(
        principal=Principal(olga, Role.OPERATOR),
        owner_ids=[ana.pk],
        kind="memory",
        object_id="7",
        reason="a ticket",
        now=now,
    )
    entry = list_access(ana).get()
    assert entry.reason == "a ticket"
    assert (entry.viewer, entry.kind, entry.object_id, entry.at) == (olga, "memory", "7", now)
    assert not list_access(ben).exists()


@pytest.mark.database
def test_a_list_leaves_one_line_for_each_other_owner(ana, ben, olga, now, django_assert_num_queries):
    owner_ids = [ana.pk, ben.pk, ana.pk, olga.pk]
    with django_assert_num_queries(1):
        log_access(principal=Principal(olga, Role.OPERATOR), owner_ids=owner_ids, kind="memories", now=now)
    entries = AccessEntry.objects.values_list("viewer", "owner", "kind", "object_id", "at")
    assert set(entries) == {(olga.pk, user.pk, "memories", "", now) for user in (ana, ben)}


def test_own_objects_leave_nothing_and_cost_nothing(ana, now, django_assert_num_queries):
    me = Principal(ana, Role.USER)
    with django_assert_num_queries(0):
        log_access(principal=me, owner_ids=[ana.pk], kind="memories", now=now)
        log_access(principal=me, owner_ids=[ana.pk], kind="memory", object_id="7", now=now)
    assert not AccessEntry.objects.exists()
