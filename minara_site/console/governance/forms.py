"""The forms of governance: each change says why."""

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from minara_site.console.governance.labels import MODE_TEXTS
from minara_site.kernel.governance.core import Mode
from minara_site.kernel.governance.services import MAX_REASON_CHARS
from minara_site.kernel.governance.table import Capability


class ReasonForm(forms.Form):
    """Why something is changed."""

    reason = forms.CharField(
        label=_("Why"),
        max_length=MAX_REASON_CHARS,
        help_text=_("It is shown in the audit log and on this page."),
    )


class SwitchForm(ReasonForm):
    """How a capability is to stand, and why."""

    mode = forms.ChoiceField(label=_("Mode"), widget=forms.RadioSelect)
    field_order = ("mode", "reason")

    def __init__(
        self,
        capability: Capability,
        mode: Mode,
        data: QueryDict | None = None,
    ) -> None:
        super().__init__(data, initial={"mode": mode.value})
        modes = [each for each in Mode if each is not Mode.SHADOW or capability.has_shadow]
        field = self.fields["mode"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(each.value, MODE_TEXTS[each]) for each in modes]
