"""What a site's process writes before its tables are taken away and put back."""

from minara_site.access.models import User
from tests.memory_app.roles.rows import make_row, make_wrong


def seed() -> None:
    """Store a decision that waits and one that was reflected."""
    owner = User.objects.get(is_default=True)
    make_row(owner)
    make_wrong(owner)
