"""What an operator says to raise a cap."""

from decimal import Decimal

from django import forms
from django.utils.translation import gettext_lazy as _

from minara_site.console.budgets.services import MAX_REASON, MAX_USD
from minara_site.kernel.plain_text import storable_problem
from minara_site.web.forms import reason_field


class RaiseForm(forms.Form):
    """The new cap, and why."""

    cap_usd = forms.DecimalField(
        label=_("Cap in USD"),
        min_value=Decimal("0.01"),
        max_value=MAX_USD,
        decimal_places=2,
        widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"}),
    )
    reason = reason_field(
        _("Why"),
        MAX_REASON,
        _("Stays in the audit log permanently."),
    )

    def clean_reason(self) -> str:
        reason: str = self.cleaned_data["reason"]
        if problem := storable_problem(reason):
            raise forms.ValidationError(problem)
        return reason
