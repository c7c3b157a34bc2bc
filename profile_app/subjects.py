"""What model calls and shadow decisions of this app are about."""

from django.utils.translation import gettext_lazy as _

from minara_site.kernel.governance.subjects import Subject
from profile_app.rebuild.core import RUN_PREFIX

SUBJECTS = (Subject(RUN_PREFIX.removesuffix(":"), _("rebuild %(id)s"), lambda _id, _owner: ""),)
