"""Reads of conversations."""

from django.utils.translation import gettext as _

from minara_site.kernel.conversations.models import Session
from minara_site.kernel.errors import NotFound
from minara_site.kernel.ownership import Owner


def get_session(*, owner: Owner, session_id: str, lock: bool = False) -> Session:
    """Return one session. Raises NotFound also for another owner's."""
    rows = Session.objects.for_owner(owner)
    if lock:
        rows = rows.select_for_update(of=("self",))
    session: Session | None = rows.filter(pk=session_id).first()
    if session is None:
        raise NotFound(_("There is no such session."))
    return session
