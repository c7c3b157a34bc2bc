"""The forms of operators about people."""

from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from minara_site.access.policy import Role
from minara_site.access.users import check_username
from minara_site.web.forms import as_field_error

ROLES = (
    (Role.USER.value, _("User: own memories, keys and settings")),
    (Role.OPERATOR.value, _("Operator: everything of everybody, except secrets")),
    (Role.SUPPORT.value, _("Support: trading cases only, changes nothing")),
)
ROLE_NAMES: dict[str, str | Promise] = {
    Role.USER.value: _("User"),
    Role.OPERATOR.value: _("Operator"),
    Role.SUPPORT.value: _("Support"),
}
RESIGN = "resign"


class InviteForm(forms.Form):
    """Who is to come, and as what."""

    username = forms.CharField(
        label=_("User name"),
        max_length=150,
        help_text=_("They sign in with it. Letters, digits and @ . + - _"),
        widget=forms.TextInput(attrs={"autocapitalize": "none", "spellcheck": "false"}),
    )
    role = forms.ChoiceField(
        label=_("Account type"),
        choices=ROLES,
        initial=Role.USER.value,
        widget=forms.RadioSelect,
    )

    def clean_username(self) -> str:
        with as_field_error():
            return check_username(self.cleaned_data["username"])


class RoleForm(forms.Form):
    """Another role; an operator who gives up their own types a word, because only others can give it back."""

    role = forms.ChoiceField(
        label=_("Account type"),
        choices=ROLES,
        widget=forms.RadioSelect,
    )
    word = forms.CharField(
        label=_("To give up your own account type, type “resign”"),
        required=False,
        max_length=40,
        help_text=_("Only another operator can give it back to you."),
    )

    def __init__(
        self,
        role: Role,
        *,
        is_own: bool,
        data: QueryDict | None = None,
    ) -> None:
        super().__init__(data, initial={"role": role.value})
        self.is_own = is_own
        if not is_own:
            del self.fields["word"]

    def clean(self) -> dict[str, Any]:
        """Ask for the word where the role is the operator's own and ends."""
        cleaned = super().clean() or {}
        ends = self.is_own and cleaned.get("role", Role.OPERATOR) != Role.OPERATOR
        if ends and cleaned.get("word", "").lower() != RESIGN:
            self.add_error("word", _("Type the word resign, in Latin letters."))
        return cleaned
