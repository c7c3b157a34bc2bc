"""Load and remove the demo, whose parts the apps declare. One transaction each: all of it is there or nothing."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from operator import itemgetter
from typing import Any

from django.contrib.auth.hashers import make_password
from django.db import connections, transaction
from django.db.models import CASCADE, ForeignObjectRel, Model, QuerySet
from django.utils.translation import gettext as _

from minara_site.access.models import AccessEntry, User
from minara_site.access.policy import Role
from minara_site.access.users import grant_role
from minara_site.console.models import DemoObject
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.changes.services import erase_owner
from minara_site.kernel.demo import DemoLoad, RemovedRows
from minara_site.kernel.guard.kinds import stored_kinds
from minara_site.kernel.registry import load as load_list
from minara_site.web.labels import enumeration, sentences

DEFAULT, MEI, OLGA = "default", "demo-mei", "demo-olga"
PEOPLE = {
    MEI: {"display_name": "Mei Chen", "language": "zh-hans", "time_zone": "Asia/Shanghai"},
    OLGA: {"display_name": "Olga Petrova"},
}
UNCOUNTED = frozenset({"access_log", "compiled_page_versions", "owner_schedules"})


@dataclass(frozen=True, slots=True)
class Removal:
    """What a removal took away, kind by kind, with how much of it stays; accounts that went, and why others stay."""

    rows: Sequence[RemovedRows]
    gone: Sequence[str]
    kept: Sequence[tuple[str, str]]
    memories: int


def load_demo(*, now: datetime, actor: str) -> int:
    """Load the demo into the user `default` and a second owner; return how many memories came, 0 when it is there."""
    with transaction.atomic():
        default: User = User.objects.select_for_update().get(is_default=True)
        if DemoObject.objects.exists():
            return 0
        load = DemoLoad(
            now,
            actor,
            {DEFAULT: default, **make_people(now)},
            mark,
            marked,
            now,
        )
        acts = [act for part in load_list("demo").values() for act in part.acts(load)]
        for _moment, act in sorted(acts, key=itemgetter(0)):
            act()
        add_access_rows(load)
        count = int(demo_memories().count())
        record_audit(
            now=now,
            actor=actor,
            tool_call="demo_loaded",
            owner_id=default.pk,
            details={"count": count},
        )
    return count


def remove_demo(*, now: datetime, actor: str) -> Removal | None:
    """Remove every demo row and what refers to it, and the accounts in which nothing else is; None without a demo.

    What a person or an agent wrote stays, wherever it stands, and so does an account that a person has taken over.
    """
    with transaction.atomic():
        removal = remove_rows(now=now, actor=actor, apply=True)
        if removal is not None:
            details: dict[str, Any] = {"count": removal.memories}
            details |= {"kept": [name for name, _why in removal.kept]} if removal.kept else {}
            record_audit(
                now=now,
                actor=actor,
                tool_call="demo_removed",
                details=details,
            )
    return removal


def preview_removal(*, now: datetime) -> Removal | None:
    """Return what `remove_demo` would do: it is done and taken back, so that nothing else can come of it."""
    with ExitStack() as stack:
        for alias in connections:
            stack.enter_context(transaction.atomic(using=alias))
        removal = remove_rows(now=now, actor="", apply=False)
        for alias in connections:
            transaction.set_rollback(True, using=alias)
    return removal


def remove_rows(*, now: datetime, actor: str, apply: bool) -> Removal | None:
    """Remove the demo part by part, then its accounts. Needs a transaction, rolled back unless `apply`."""
    default = User.objects.select_for_update().get(is_default=True)
    if not DemoObject.objects.exists():
        return None
    people = {user.username: user for user in marked(User).order_by("pk").select_for_update(of=("self",))}
    loaded_at = AuditEntry.objects.filter(tool_call="demo_loaded").latest("at").at
    load = DemoLoad(
        now,
        actor,
        {DEFAULT: default, **people},
        mark,
        marked,
        loaded_at,
    )
    memories, parts = list(demo_memories().values_list("pk", flat=True)), list(reversed(load_list("demo").values()))
    rows = [rows for part in parts for rows in part.remove(load)]
    kept = {user.username: why for user in people.values() if (why := find_reason(user, loaded_at))}
    gone = [user for name, user in people.items() if name not in kept]
    for part in parts if apply else ():
        part.delete_elsewhere(load, [user.pk for user in gone])
    marked(AccessEntry).delete()
    for user in gone:
        erase_owner(user.pk)
    User.objects.filter(pk__in=[user.pk for user in gone]).delete()
    DemoObject.objects.all().delete()
    still_there = stored_kinds()["memory"].model.objects.filter(pk__in=memories).count()
    return Removal(
        rows,
        [user.username for user in gone],
        list(kept.items()),
        len(memories) - still_there,
    )


def find_reason(user: User, loaded_at: datetime) -> str:
    """Return why an account of the demo stays, empty when it goes. The demo's rows in it are removed already."""
    later = AuditEntry.objects.filter(
        owner=user,
        tool_call="role_changed",
        at__gte=loaded_at,
    )
    if user.has_usable_password() or user.last_login or user.invitations.exists():
        return _("a person has taken it over, or was invited to")
    if later.exists():
        return _("an operator changed its account type")
    if not any(rows.exists() for rows in rows_of(user)):
        return ""
    models = {kind.model: kind.label for kind in stored_kinds().values() if hasattr(kind.model, "owner")}
    counts = {label: model.objects.filter(owner=user).count() for model, label in models.items()}
    counts[_("API key")] = user.api_keys.count()
    found = [_("%(kind)s: %(count)d") % {"kind": label, "count": count} for label, count in counts.items() if count]
    return sentences(_("A person or an agent wrote into it."), enumeration(found)).strip()


def rows_of(user: User) -> "Iterator[QuerySet[Any]]":
    """Yield the rows that would go with an account, table by table, but for logs and what is made of other rows."""
    for each in User._meta.get_fields(include_hidden=True):  # noqa: SLF001 - Django's public Meta API
        if isinstance(each, ForeignObjectRel) and each.on_delete is CASCADE:
            table, is_link = each.related_model._meta.db_table, each.related_model._meta.auto_created  # noqa: SLF001
            if table not in UNCOUNTED and not is_link:
                yield each.related_model._base_manager.filter(**{each.field.name: user})  # noqa: SLF001


def make_people(now: datetime) -> dict[str, User]:
    """Make the demo's users, who cannot sign in; one is an operator. A name that is taken gets a number."""
    password, people = make_password(None), {}
    for name, fields in PEOPLE.items():
        names = chain([name], (f"{name}-{number}" for number in range(2, 1_000)))
        free = next(each for each in names if not User.objects.named(each).exists())
        people[name] = User.objects.create(
            username=free,
            password=password,
            date_joined=now,
            **fields,
        )
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
    return model.objects.filter(pk__in=list(found.values_list("object_id", flat=True)))


def add_access_rows(load: DemoLoad) -> None:
    """Log that an operator of the demo opened the owner's data twice."""
    owner, viewer, memory_at, prompt_at = load.people[DEFAULT], load.people[OLGA], load.ago(26), load.ago(72)
    memory = demo_memories().for_owner(owner).live().filter(updated_at__lt=memory_at).latest("updated_at")
    for kind, object_id, at in (
        ("memory", str(memory.pk), memory_at),
        ("prompt", "", prompt_at),
    ):
        mark(
            AccessEntry.objects.create(
                at=at,
                viewer=viewer,
                owner=owner,
                kind=kind,
                object_id=object_id,
            )
        )
