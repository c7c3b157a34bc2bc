"""What model calls and origins of this app are about."""

from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from minara_site.kernel.core.vocabulary import RUN_ORIGIN
from minara_site.kernel.governance.subjects import Subject
from profile_app.rebuild.core import RUN_PREFIX


def run_url(run_id: str, owner_name: str) -> str:
    """Return the page of a rebuild."""
    asked = {"run": run_id} | ({"owner": owner_name} if owner_name else {})
    return f"{reverse('changes:page')}?{urlencode(asked)}"


SUBJECTS = tuple(Subject(prefix[:-1], _("rebuild %(id)s"), run_url) for prefix in (RUN_ORIGIN, RUN_PREFIX))
