"""The forms of sign-in and first run."""

from typing import Any

from allauth.account.forms import LoginForm
from django import forms
from django.utils.translation import gettext_lazy as _

from minara_site.access.models import User
from minara_site.access.users import check_password, check_username
from minara_site.web.forms import as_field_error


class SignInForm(LoginForm):  # type: ignore[misc]
    """Name and password, without the placeholders that would stand in for labels."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, label in (("login", _("User name")), ("password", _("Password"))):
            field = self.fields[name]
            field.label, field.help_text = label, ""
            field.widget.attrs.pop("placeholder", None)
        self.fields["login"].widget.attrs |= {"autocapitalize": "none", "spellcheck": "false"}
        self.fields["password" if self.is_bound else "login"].widget.attrs["autofocus"] = True


class FirstRunForm(forms.Form):
    """How the first operator wants to be called, and the password, twice."""

    username = forms.CharField(
        label=_("User name"),
        max_length=150,
        help_text=_("You sign in with it. Letters, digits and @ . + - _"),
        widget=forms.TextInput(attrs={"autocomplete": "username", "autocapitalize": "none", "spellcheck": "false"}),
    )
    display_name = forms.CharField(
        label=_("Display name"),
        max_length=80,
        required=False,
        help_text=_("What the console calls you."),
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    password = forms.CharField(
        label=_("Password"),
        strip=False,
        help_text=_("At least 12 characters. A few unrelated words are easy to keep in mind."),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    password_again = forms.CharField(
        label=_("Password again"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    @property
    def chosen(self) -> dict[str, str]:
        """Return what the set-up, or accepting an invitation, takes."""
        return {name: value for name, value in self.cleaned_data.items() if name != "password_again"}

    def focus_first(self) -> None:
        """Put the cursor into the first wrong field, or into the first one when none is wrong."""
        name = next(
            (name for name in self.fields if name in self.errors),
            next(iter(self.fields)),
        )
        self.fields[name].widget.attrs["autofocus"] = True

    def clean_username(self) -> str:
        """Refuse a name that the set-up would refuse, beside what is wrong with other fields."""
        default: User = User.objects.get(is_default=True)
        with as_field_error():
            return check_username(self.cleaned_data["username"], taken_by=default)

    def clean_password(self) -> str:
        """Refuse a password that the set-up would refuse."""
        password: str = self.cleaned_data["password"]
        known = {name: self.cleaned_data.get(name, "") for name in ("username", "display_name")}
        with as_field_error():
            check_password(password, User(**known))
        return password

    def clean_password_again(self) -> str:
        """Refuse two different passwords, also when the first is refused itself."""
        again: str = self.cleaned_data["password_again"]
        if again != self["password"].data:
            raise forms.ValidationError(_("The two passwords differ. Type the same one twice."))
        return again
