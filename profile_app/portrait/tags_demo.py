"""The demo's tags, declared and inferred; a dimension of which the owner has said or been told something stays."""

from django.utils.translation import gettext_lazy as _

from minara_site.access.models import User
from minara_site.kernel.demo import DemoLoad, DemoPart, DemoRow, RemovedRows, delete_rows, read_rows
from profile_app.portrait.core.tags import TagSource
from profile_app.portrait.models import UserTag, UserTagEvent
from profile_app.portrait.services.tags import set_tag


class DemoTag(DemoRow):
    """What a source says of a dimension."""

    name: str
    value: str | tuple[str, ...]
    source: TagSource


class TagsPart(DemoPart[DemoTag]):
    """Tags with their history."""

    name, rows = "user_tags", read_rows(DemoTag, __package__, "tags_demo.toml")

    def store(self, load: DemoLoad, owner: User, row: DemoTag) -> None:
        """Say it now, as the audit log has it, then move it to its time and writer."""
        if UserTagEvent.objects.for_owner(owner).filter(name=row.name, is_demo=False).exists():
            return
        change = set_tag(
            owner=owner,
            name=row.name,
            value=row.value,
            source=row.source,
            actor=load.actor,
            now=load.now,
            is_demo=True,
        )
        actor = f"user:{owner.pk}" if row.source is TagSource.USER else "job:rebuild.tags"
        UserTagEvent.objects.filter(pk=change.event_id).update(actor=actor, at=load.ago(row.hours_ago))
        if change.kind == "set" and change.tag is not None:
            UserTag.objects.filter(pk=change.tag.pk).update(actor=actor, updated_at=load.ago(row.hours_ago))

    def remove(self, load: DemoLoad) -> list[RemovedRows]:
        """Delete tags and events; what a person or an agent said since stays."""
        tags, events = UserTag.objects.filter(is_demo=True), UserTagEvent.objects.filter(is_demo=True)
        said = set(events.values_list("owner", "name"))
        kept = said & set(UserTag.objects.filter(is_demo=False).values_list("owner", "name"))
        events.delete()
        return [delete_rows(_("Tags"), tags, len(kept))]
