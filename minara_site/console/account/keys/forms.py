"""The form that makes a key."""

import secrets
from typing import Any

from django import forms
from django.conf import settings
from django.http import QueryDict
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _, ngettext

from minara_site.access.policy import SCOPES_IN_USE, Role, Scope

SCOPE_WORDS = {
    Scope.MEMORY_READ: _("read and search memories, start sessions, read the prompt"),
    Scope.MEMORY_WRITE: _("write, correct, delete and restore memories"),
    Scope.PROFILE_READ: _("read the profile, tags and agent files"),
    Scope.PROFILE_WRITE: _("write the profile, tags and agent files; what the guard refuses waits for you"),
    Scope.LEARNING_READ: _("read roles, their decisions and lessons"),
    Scope.LEARNING_WRITE: _("record sessions, decisions of roles and their outcomes"),
    Scope.TRADING_READ: _("read trades"),
    Scope.TRADING_WRITE: _("post prices and trades"),
    Scope.OPERATOR: _("act as operator: reach every owner's data"),
}
LIVES_DAYS = (7, 30, 90, 365)
NEVER = 0


class NewKeyForm(forms.Form):
    """What a key is for, what it may do, how long and from where; `once` tells a form that was sent before."""

    once = forms.CharField(
        widget=forms.HiddenInput,
        initial=lambda: secrets.token_urlsafe(16),
        required=False,
        max_length=64,
    )
    label = forms.CharField(
        label=_("Label"),
        max_length=80,
        help_text=_("Where the key will live, such as “Claude on my laptop”."),
    )
    scopes = forms.MultipleChoiceField(
        label=_("What it may do"),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Choose at least one.")},
        help_text=_("Give the least that the agent needs; a second key is free."),
    )
    expires_days = forms.TypedChoiceField(label=_("Expires"), coerce=int)
    networks = forms.CharField(
        label=_("Only from these addresses"),
        required=False,
        max_length=1000,
        help_text=_("Addresses or networks such as 203.0.113.7 or 10.0.0.0/8, separated by commas."),
    )

    def __init__(self, role: Role, data: QueryDict | None = None) -> None:
        super().__init__(
            data,
            initial={"scopes": [Scope.MEMORY_READ], "expires_days": configured_life()},
        )
        offered = SCOPES_IN_USE if role is Role.OPERATOR else SCOPES_IN_USE - {Scope.OPERATOR}
        label = '<span class="mono">{}</span> <span class="ink-2">{}</span>'
        scopes = [(s.value, format_html(label, s.value, SCOPE_WORDS[s])) for s in Scope if s in offered]
        self.fields["scopes"].choices = scopes  # type: ignore[attr-defined]
        lives = sorted({*LIVES_DAYS, configured_life()})
        days = [
            (
                life,
                ngettext("%(days)d day", "%(days)d days", life) % {"days": life},
            )
            for life in lives
        ]
        self.fields["expires_days"].choices = [*days, (NEVER, _("Never"))]  # type: ignore[attr-defined]

    @property
    def chosen(self) -> dict[str, Any]:
        """Return what the key is made from."""
        return {name: value for name, value in self.cleaned_data.items() if name != "once"}


def configured_life() -> int:
    """Return the days that a new key lives unless asked otherwise."""
    return settings.MINARA.minara_key_expires_days
