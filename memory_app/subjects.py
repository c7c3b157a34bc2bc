"""What model calls and shadow decisions of this app are about."""

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from minara_site.kernel.governance.subjects import Subject

CONFLICT = "fact_conflict"


def conflicts_url(_conflict_id: str, owner_name: str) -> str:
    """Return the list of the owner's contradictions; without an owner there is none."""
    return f"{reverse('facts:conflicts')}?owner={owner_name}" if owner_name else ""


SUBJECTS = (
    Subject(CONFLICT, _("pair %(id)s"), conflicts_url),
    Subject(
        "role_memory",
        _("decision %(id)s"),
        lambda entry_id, _owner: reverse("role_memory:one", args=[entry_id]),
    ),
)
