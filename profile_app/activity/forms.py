"""The form of an own account. What is an address, the service says."""

from django import forms
from django.utils.translation import gettext_lazy as _

from profile_app.activity.core.accounts import AccountSource
from profile_app.portrait.forms import WalletForm


class AccountForm(WalletForm):
    """A wallet of one's own."""

    source = forms.TypedChoiceField(
        label=_("Read for"),
        choices=[(AccountSource.PERPS, _("Derivatives")), (AccountSource.SPOT, _("Spot"))],
        coerce=AccountSource,
        initial=AccountSource.PERPS,
    )
    field_order = ("address", "label", "source")
