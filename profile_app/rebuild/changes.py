"""What undoing a rebuild means for tags and summaries; memories have their own. Source: changes.md (step 3)."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext_lazy, ngettext_lazy

from minara_site.kernel.changes.core import State, Step
from minara_site.kernel.changes.kinds import Changes
from minara_site.kernel.changes.models import ChangeSet
from minara_site.kernel.unchanged import UnchangedReason
from profile_app.documents.core import PROFILE_SUMMARY, Origin
from profile_app.documents.models import Document, DocumentRevision
from profile_app.documents.services import save_document
from profile_app.portrait.core.tags import TagSource, parse_stored_tag_value
from profile_app.portrait.models import UserTag
from profile_app.portrait.pages.tags import NAMES
from profile_app.portrait.services.tags import set_tags, withdraw_tag

TAG, TAG_STATE = "tag", ("value", "source", "origin")


def tag_key(owner_id: int, name: str) -> str:
    """Return what outlives the row of a dimension, which goes when nothing counts."""
    return f"{owner_id}:{name}"


def tag_state(tag: UserTag | None) -> State:
    """Return what is known of a dimension, empty where nothing counts."""
    return {column: getattr(tag, column, "") for column in TAG_STATE}


def text_state(document: Document | None) -> State:
    """Return the first version that says what a document says, 0 for nothing: a text that comes back reads the same."""
    if document is None or not document.content:
        return {"version": 0}
    same = DocumentRevision.objects.filter(document=document, content=document.content)
    return {"version": same.order_by("number").values_list("number", flat=True).first() or document.version}


class TagChanges(Changes):
    """What rebuilds infer of dimensions; one without a value has no row."""

    name, model, columns = TAG, UserTag, TAG_STATE
    differs, label, id_column = UnchangedReason.CHANGED_SINCE, gettext_lazy("Tag"), "name"
    undone = ngettext_lazy("Undone for %(number)s tag.", "Undone for %(number)s tags.", "count")

    def load(self, keys: Iterable[str], *, lock: bool = False) -> dict[str, Any]:
        """Return the rows by key, an unstored one where nothing counts."""
        found = {}
        for key in sorted(keys):
            owner_id, _colon, name = key.partition(":")
            about: dict[str, Any] = {"owner_id": int(owner_id), "name": name}
            rows = UserTag.objects.filter(**about)
            row = (rows.select_for_update(of=("self",)) if lock else rows).first()
            found[key] = row or UserTag(**about, value="", source="")
        return found

    def gone(self, state: State, *, actor: str, now: datetime) -> State:
        return tag_state(None)

    def restore(self, steps: Sequence[Step], *, made: ChangeSet) -> None:
        """Infer what was inferred before, or withdraw what was inferred."""
        for step in steps:
            name, value, origin = step.row.name, step.after["value"], step.after["origin"]
            about: dict[str, Any] = {
                "owner": step.row.owner,
                "source": TagSource.INFERRED,
                "actor": made.actor,
                "now": made.at,
                "is_audited": False,
            }
            if value:
                set_tags(values={name: parse_stored_tag_value(name, value)}, origin=origin, **about)
            else:
                withdraw_tag(name=name, **about)

    def name_rows(self, steps: Sequence[Step]) -> dict[str, Any]:
        return {"names": [step.row.name for step in steps]}

    def title_of(self, row: UserTag) -> str:
        return str(NAMES[row.name])

    def url_of(self, row: UserTag) -> str:
        return reverse("tags:page")


class SummaryChanges(Changes):
    """Which text a rebuild put in force, by the first version that says it."""

    name, model, columns = PROFILE_SUMMARY, Document, ("version",)
    differs = UnchangedReason.EDITED_SINCE
    undone = ngettext_lazy("Undone for %(number)s summary.", "Undone for %(number)s summaries.", "count")

    def state_of(self, row: Document) -> State:
        return text_state(row)

    def gone(self, state: State, *, actor: str, now: datetime) -> State:
        return text_state(None)

    def may_restore(self, steps: Sequence[Step], *, actor: str, now: datetime) -> dict[str, UnchangedReason]:
        """Return of which summaries another text waits."""
        return {step.key: UnchangedReason.WAITS for step in steps if step.row.held_at}

    def restore(self, steps: Sequence[Step], *, made: ChangeSet) -> None:
        """Put the earlier text in force as a new version."""
        for step in steps:
            texts = DocumentRevision.objects.filter(document=step.row.pk, number=step.after["version"])
            save_document(
                owner=step.row.owner,
                kind=PROFILE_SUMMARY,
                name=step.row.name,
                content=texts.values_list("content", flat=True).first() or "",
                origin=Origin.REVERT,
                actor=made.actor,
                now=made.at,
                is_audited=False,
            )
