"""The words of a trading case as a kind of stored text. A case is never deleted: a discarded one stays held."""

from datetime import datetime

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from learning_app.cases.models import CASE_KIND, TradingCase
from minara_site.kernel.guard.held_at import HeldAtKind
from minara_site.kernel.guard.kinds import Label


class CaseKind(HeldAtKind):
    """What an agent decided, and the trade that it names."""

    name = CASE_KIND
    label = _("Trading case")
    model = TradingCase
    on_release = _("Agents of the owner may read the words; prices judge the case as before.")

    def url(self, object_id: int) -> str:
        return reverse("cases:one", args=[object_id])

    def on_discard(self) -> Label:
        return _("It leaves the queue and stays held: a case is never deleted. It can be held again at any time.")

    def purge_discarded(self, *, cutoff: datetime) -> int:
        """Keep them: what a case says of methodologies must not change with its words."""
        return 0
