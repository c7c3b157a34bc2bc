"""The forms of sign-in's second step, of confirming that it is you, and of what somebody can show."""

from typing import Any

from allauth.account.adapter import get_adapter
from allauth.core import context
from allauth.core.internal.cryptokit import normalize_user_code
from allauth.mfa.adapter import get_adapter as get_factor_adapter
from allauth.mfa.base.forms import BaseAuthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import generate_totp_secret, validate_totp_code
from allauth.mfa.webauthn.forms import AuthenticateWebAuthnForm
from allauth.mfa.webauthn.internal.auth import complete_registration, parse_registration_response
from cryptography.fernet import InvalidToken
from django import forms
from django.contrib.auth.forms import PasswordChangeForm
from django.core.validators import RegexValidator
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from minara_site.access.adapters import cipher
from minara_site.access.models import User
from minara_site.access.security.lockout import code_limit, is_first_use
from minara_site.access.security.proofs import check_proof

SEALED_FOR_SECONDS = 3600
BROKEN = (  # what a made-up credential raises
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)


def mismatch() -> forms.ValidationError:
    """Return the refusal of a code or passkey; it says the same for every reason."""
    return get_factor_adapter().validation_error("incorrect_code")


class CodeField(forms.CharField):
    """Six digits of an app, or eight of a recovery code."""

    def __init__(self, label: Any, **more: Any) -> None:
        attrs = {"autocomplete": "one-time-code", "inputmode": "numeric", "spellcheck": "false"}
        plain = RegexValidator(r"\A[0-9A-Za-z -]+\Z", _("Type the digits of the code."))
        super().__init__(
            label=label,
            max_length=20,
            widget=forms.TextInput(attrs),
            validators=[plain],
            **more,
        )


class CodeForm(BaseAuthenticateForm):  # type: ignore[misc]
    """A code of the app or a recovery code; `authenticator` is what it belongs to."""

    code = CodeField(_("Code"))

    def clean_code(self) -> str:
        """Accept a code that fits, once. Raises Throttled after five that do not."""
        limit = code_limit(self.user.pk)
        limit.count_attempt(timezone.now())
        code = self.matched_code()
        limit.reset_attempts()
        return code

    def matched_code(self) -> str:
        """Return the code. Raises ValidationError when it does not fit, or was typed before."""
        typed = normalize_user_code(self.cleaned_data["code"])
        if not is_first_use(
            user_id=self.user.pk,
            code=typed,
            now=timezone.now(),
        ):
            raise mismatch()
        return super().clean_code()


class ConfirmCodeForm(CodeForm):
    """The code of somebody who is signed in; tries count for this session alone."""

    def clean_code(self) -> str:
        """Accept a code that fits, once. Raises SessionEnded for the fifth wrong one."""
        if not check_proof(context.request, self.is_right):
            raise mismatch()
        return self.cleaned_data["code"]

    def is_right(self) -> bool:
        """Say whether the code fits."""
        try:
            self.matched_code()
        except forms.ValidationError:
            return False
        return True


class CredentialField(forms.JSONField):
    """What the browser made or signed, in a hidden field that a script fills."""

    def __init__(self, missing: str | Promise) -> None:
        super().__init__(widget=forms.HiddenInput, error_messages={"required": missing})

    def to_python(self, value: Any) -> Any:
        """Return the JSON; nobody's browser nests it deeply."""
        try:
            return super().to_python(value)
        except RecursionError:
            raise mismatch() from None


class PasskeyForm(AuthenticateWebAuthnForm):  # type: ignore[misc]
    """What the browser signed with a passkey; without `user` the passkey says who it is."""

    credential = CredentialField(_("This browser sent no passkey. Try again."))

    def __init__(
        self,
        *args: Any,
        user: User | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, user=user, **kwargs)

    def clean_credential(self) -> Authenticator:
        """Return the passkey. Somebody disabled is nobody."""
        try:
            authenticator: Authenticator = super().clean_credential()
        except BROKEN:
            raise mismatch() from None
        if not authenticator.user.is_active:
            raise mismatch()
        return authenticator


class PasswordForm(forms.Form):
    """The password of who is signed in, once more."""

    password = forms.CharField(
        label=_("Password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user

    def clean_password(self) -> str:
        """Refuse another password. Raises SessionEnded for the fifth wrong one."""
        password: str = self.cleaned_data["password"]
        if not get_adapter().reauthenticate(self.user, password):
            raise forms.ValidationError(_("That is not your password."))
        return password


class NewPasswordForm(PasswordChangeForm):
    """Django's form with our words; tries of the present password count for this session."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        strength = _("At least 12 characters. A few unrelated words are easy to keep in mind.")
        self.label("old_password", _("Present password"))
        self.label("new_password1", _("New password"), strength)
        self.label("new_password2", _("New password again"))

    def label(
        self,
        name: str,
        label: str | Promise,
        hint: str | Promise = "",
    ) -> None:
        field = self.fields[name]
        field.label, field.help_text = str(label), str(hint)

    def clean_old_password(self) -> str:
        """Refuse another password. Raises SessionEnded for the fifth wrong one."""
        password: str = self.cleaned_data["old_password"]
        if not get_adapter().reauthenticate(self.user, password):
            raise forms.ValidationError(self.error_messages["password_incorrect"], code="password_incorrect")
        return password


class AppForm(forms.Form):
    """The first code of an authenticator app; it opens nothing later. The form carries the sealed secret until then."""

    code = CodeField(_("Code that the app shows"))
    sealed = forms.CharField(widget=forms.HiddenInput, required=False, max_length=400)

    def __init__(self, user: User, data: Any = None) -> None:
        super().__init__(data)
        self.user = user
        self.secret = self.open_sealed() or generate_totp_secret()
        self.initial["sealed"] = cipher().encrypt(f"{user.pk}:{self.secret}".encode()).decode()

    def open_sealed(self) -> str:
        """Return the secret that came back with the form; empty without one, or when it is old or somebody else's."""
        try:
            text = (
                cipher()
                .decrypt(
                    str(self.data.get("sealed", "")),
                    ttl=SEALED_FOR_SECONDS,
                )
                .decode()
            )
        except (InvalidToken, ValueError):
            return ""
        user_id, _colon, secret = text.partition(":")
        return secret if user_id == str(self.user.pk) else ""

    def clean_code(self) -> str:
        """Refuse a code that does not fit. None is counted: who types it has the secret, there is nothing to guess."""
        code: str = self.cleaned_data["code"]
        typed = normalize_user_code(code)
        if not validate_totp_code(self.secret, code) or not is_first_use(
            user_id=self.user.pk,
            code=typed,
            now=timezone.now(),
        ):
            raise mismatch()
        return code


class NewPasskeyForm(forms.Form):
    """The name of a passkey, and what the browser made."""

    name = forms.CharField(
        label=_("Name"),
        max_length=80,
        required=False,
        help_text=_("Where the passkey is, such as “My laptop”."),
    )
    credential = CredentialField(_("This browser made no passkey. Try again."))

    def clean_credential(self) -> dict[str, Any]:
        """Refuse what does not answer our challenge."""
        credential: dict[str, Any] = self.cleaned_data["credential"]
        try:
            parse_registration_response(credential)
            complete_registration(credential)
        except BROKEN:
            raise mismatch() from None
        return credential
