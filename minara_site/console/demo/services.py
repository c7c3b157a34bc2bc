"""Load and remove the demo, whose parts the apps declare. One transaction each: all of it is there or nothing."""

from datetime import datetime
from operator import itemgetter
from typing import Any

from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.db.models import Model, QuerySet
from django.utils.translation import gettext as _

from minara_site.access.models import AccessEntry, User
from minara_site.access.policy import Role
from minara_site.access.users import grant_role, lock_operators, refuse_last_operator
from minara_site.console.models import DemoObject
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.demo import DemoLoad
from minara_site.kernel.guard.kinds import stored_kinds
from minara_site.kernel.registry import load as load_list

DEFAULT, MEI, OLGA = "default", "demo-mei", "demo-olga"
PEOPLE = {
    MEI: {"display_name": "Mei Chen", "language": "zh-hans", "time_zone": "Asia/Shanghai"},
    OLGA: {"display_name": "Olga Petrova"},
}


def change_demo(act: str, *, now: datetime, actor: str) -> str:
    """Load or remove the demo and return what was done, in words. Raises Conflict."""
    if act == "load":
        count = load_demo(now=now, actor=actor)
        text = _("Loaded a demo of %(count)d memories.") if count else _("The demo is loaded already.")
    else:
        count = remove_demo(now=now, actor=actor)
        text = _("Removed the demo and its %(count)d memories.") if count else _("There is no demo to remove.")
    return text % {"count": count}


def load_demo(*, now: datetime, actor: str) -> int:
    """Load the demo into the user `default` and a second owner; return how many memories came, 0 when it is there."""
    with transaction.atomic():
        default: User = User.objects.select_for_update().get(is_default=True)
        if DemoObject.objects.exists():
            return 0
        load = DemoLoad(now, actor, {DEFAULT: default, **make_people(now)}, mark, marked)
        acts = [act for part in load_list("demo").values() for act in part.acts(load)]
        for _moment, act in sorted(acts, key=itemgetter(0)):
            act()
        add_access_rows(load)
        count = int(demo_memories().count())
        record_audit(now=now, actor=actor, tool_call="demo_loaded", owner_id=default.pk, details={"count": count})
    return count


def remove_demo(*, now: datetime, actor: str) -> int:
    """Remove every demo row and what refers to it; return how many memories went.

    Raises Conflict when one of the demo's users was made the last operator.
    """
    with transaction.atomic():
        lock_operators()
        default = User.objects.select_for_update().get(is_default=True)
        if not DemoObject.objects.exists():
            return 0
        people = {user.username: user for user in marked(User)}
        for user in people.values():
            refuse_last_operator(user)
        count = int(demo_memories().count())
        load = DemoLoad(now, actor, {DEFAULT: default, **people}, mark, marked)
        for part in reversed(load_list("demo").values()):
            part.remove(load)
        for model in (AccessEntry, User):
            marked(model).delete()
        DemoObject.objects.all().delete()
        record_audit(now=now, actor=actor, tool_call="demo_removed", details={"count": count})
    return count


def make_people(now: datetime) -> dict[str, User]:
    """Make the demo's users, who cannot sign in; one is an operator."""
    password = make_password(None)
    people = {
        name: User.objects.create(username=name, password=password, date_joined=now, **fields)
        for name, fields in PEOPLE.items()
    }
    grant_role(people[OLGA], Role.OPERATOR)
    mark(*people.values())
    return people


def demo_memories() -> Any:
    """Return the demo's memories, which its messages count."""
    return stored_kinds()["memory"].model.objects.filter(is_demo=True)


def mark(*rows: Model) -> None:
    """Remember rows as the demo's."""
    keys = [(row._meta.db_table, str(row.pk)) for row in rows]  # noqa: SLF001 - Django's public Meta API
    DemoObject.objects.bulk_create(DemoObject(table=table, object_id=key) for table, key in keys)


def marked(model: type[Any]) -> "QuerySet[Any]":
    """Return the rows of a model that are marked as the demo's and still there."""
    found = DemoObject.objects.filter(table=model._meta.db_table)  # noqa: SLF001 - Django's public Meta API
    rows: QuerySet[Any] = model.objects.filter(pk__in=list(found.values_list("object_id", flat=True)))
    return rows


def add_access_rows(load: DemoLoad) -> None:
    """Log that an operator of the demo opened the owner's data twice."""
    owner, viewer, memory_at, prompt_at = load.people[DEFAULT], load.people[OLGA], load.ago(26), load.ago(72)
    memory = demo_memories().for_owner(owner).live().filter(updated_at__lt=memory_at).latest("updated_at")
    for kind, object_id, at in (("memory", str(memory.pk), memory_at), ("prompt", "", prompt_at)):
        mark(AccessEntry.objects.create(at=at, viewer=viewer, owner=owner, kind=kind, object_id=object_id))
