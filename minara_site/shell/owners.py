"""The choice of an owner on lists of operators."""

from django.utils.translation import gettext as _

from minara_site.access.models import User
from minara_site.access.users import find_user_id
from minara_site.kernel.errors import NotFound
from minara_site.kernel.ownership import ALL_OWNERS, Owner
from minara_site.web.filters import Filter, FilterKind, Rows, Text

MAX_OWNERS = 500  # of the filter's choices; any owner can be named in the address


def keep_all(rows: Rows, value: object) -> Rows:
    """Keep all: the view has chosen the owner already."""
    return rows


def owner_filter(reader: User, owner: Owner, asked: str) -> Filter:
    """Return the choice of an owner, the one that was asked for among them."""
    users = User.objects.order_by("username").only("username", "display_name")[:MAX_OWNERS]
    choices = {
        ALL_OWNERS: _("everybody"),
        **{user.username: user.get_short_name() for user in users},
    }
    if asked and isinstance(owner, User):
        choices[asked] = owner.get_short_name()
    return Filter(
        "owner",
        _("Owner"),
        FilterKind.ONE,
        choices=choices,
        default=reader.username,
        apply=keep_all,
    )


def user_filter(name: str, label: Text) -> Filter:
    """Return the filter of a list by the user of a name, in the column that has the filter's name."""
    column = f"{name}_id"
    return Filter(
        name,
        label,
        FilterKind.TEXT,
        apply=lambda rows, text: rows.filter(**{column: find_user_id(text) or 0}),
    )


def open_owner(owner: Owner) -> User:
    """Return the one owner whose rows are asked for. Raises NotFound for all owners at once."""
    if not isinstance(owner, User):
        raise NotFound(_("Name one owner: a page tells what one of them knows."))
    return owner
