"""What model calls and shadow decisions of this app are about."""

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from learning_app.methodologies.core import METHODOLOGY_KIND
from minara_site.kernel.governance.subjects import Subject

SUBJECTS = (
    Subject("turn", _("turn %(id)s"), lambda _id, _owner: ""),
    Subject(METHODOLOGY_KIND, _("a methodology"), lambda uid, _owner: reverse("methodologies:one", args=[uid])),
    Subject("good_cases", _("good cases up to %(id)s"), lambda case_id, _owner: reverse("cases:one", args=[case_id])),
    Subject("institution_run", _("an institution run"), lambda uid, _owner: reverse("institution:one", args=[uid])),
    Subject("reflection", _("lessons of run %(id)s"), lambda _id, _owner: ""),
    Subject("mined_turns", _("turns up to %(id)s"), lambda _turn_id, _owner: ""),
)
