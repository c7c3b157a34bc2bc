"""The form of the settings page."""

from functools import cache
from typing import Any
from zoneinfo import available_timezones

from django import forms
from django.conf import settings
from django.utils.translation import get_language_info, gettext_lazy as _

from minara_site.access.models import User


@cache
def zone_choices() -> list[tuple[str, str]]:
    """Return the zones that are named after places, and UTC."""
    places = sorted(name for name in available_timezones() if "/" in name and not name.startswith("Etc/"))
    return [
        ("UTC", "UTC"),
        *((name, name.replace("_", " ")) for name in places),
    ]


class PreferencesForm(forms.ModelForm):  # type: ignore[type-arg]
    """What applies to every page from the next one on."""

    language = forms.ChoiceField(
        label=_("Language"),
        required=False,
        help_text=_("Of the console; memories stay as they are."),
    )
    time_zone = forms.ChoiceField(
        label=_("Time zone"),
        help_text=_("Of the console; exports stay in UTC."),
    )

    class Meta:
        model = User
        fields = ["display_name", "language", "time_zone", "theme", "density", "shortcuts"]
        labels = {
            "display_name": _("Display name"),
            "theme": _("Theme"),
            "density": _("Density"),
            "shortcuts": _("Single-key shortcuts, such as J, K and X in lists"),
        }
        help_texts = {"display_name": _("What the console calls you; empty is your user name.")}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        own_names = [(code, get_language_info(code)["name_local"]) for code, _name in settings.LANGUAGES]
        self.fields["language"].choices = [("", _("As the browser asks")), *own_names]  # type: ignore[attr-defined]
        self.fields["time_zone"].choices = zone_choices()  # type: ignore[attr-defined]
