"""The form of somebody who follows a link: how they want to be called, and the password, twice."""

from django.http import QueryDict

from minara_site.access.models import User
from minara_site.access.users import check_password
from minara_site.console.account.forms import FirstRunForm
from minara_site.web.forms import as_field_error


class InvitationForm(FirstRunForm):
    """The form of the first run without the user name, which the operator chose."""

    username = None  # type: ignore[assignment]

    def __init__(self, user: User, data: QueryDict | None = None) -> None:
        super().__init__(data, initial={"display_name": user.display_name})
        self.user = user

    def clean_password(self) -> str:
        """Refuse a password that accepting would refuse."""
        password: str = self.cleaned_data["password"]
        with as_field_error():
            check_password(password, self.user)
        return password
