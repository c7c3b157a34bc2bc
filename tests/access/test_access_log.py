"""Who looked at whose data."""

import pytest

from minara_site.access.access_log import list_views, record_view, record_views
from minara_site.access.models import AccessEntry
from minara_site.access.policy import Role
from minara_site.access.principal import Principal

pytestmark = pytest.mark.django_db


def test_names_the_operator_to_the_owner(ana, ben, olga, now):
    record_view(principal=Principal(olga, Role.OPERATOR), owner_id=ana.pk, kind="memory", object_id="7", now=now)
    entry = list_views(ana).get()
    assert (entry.viewer, entry.kind, entry.object_id, entry.at) == (olga, "memory", "7", now)
    assert not list_views(ben).exists()


@pytest.mark.database
def test_a_list_leaves_one_line_for_each_other_owner(ana, ben, olga, now, django_assert_num_queries):
    owner_ids = [ana.pk, ben.pk, ana.pk, olga.pk]
    with django_assert_num_queries(1):
        record_views(principal=Principal(olga, Role.OPERATOR), owner_ids=owner_ids, kind="memories", now=now)
    entries = AccessEntry.objects.values_list("viewer", "owner", "kind", "object_id", "at")
    assert set(entries) == {(olga.pk, user.pk, "memories", "", now) for user in (ana, ben)}


def test_own_objects_leave_nothing_and_cost_nothing(ana, now, django_assert_num_queries):
    me = Principal(ana, Role.USER)
    with django_assert_num_queries(0):
        record_views(principal=me, owner_ids=[ana.pk], kind="memories", now=now)
        record_view(principal=me, owner_id=ana.pk, kind="memory", object_id="7", now=now)
    assert not AccessEntry.objects.exists()
