"""`minara changepassword`: Django's command, and what a new password asks for besides."""

from getpass import getuser
from typing import Any

from django.contrib.auth.management.commands import changepassword
from django.utils import timezone

from minara_site.access.models import User
from minara_site.access.security.passwords import follow_new_password

ACTOR = "command:changepassword"


class Command(changepassword.Command):
    """Change somebody's password, close their links and sign them out."""

    def handle(self, *args: Any, **options: Any) -> str | None:
        """Ask for the password twice. Raises CommandError."""
        said = super().handle(*args, **options)
        user = User.objects.get(username=options["username"] or getuser())
        follow_new_password(
            user=user,
            session_key="",
            now=timezone.now(),
            actor=ACTOR,
        )
        return said
