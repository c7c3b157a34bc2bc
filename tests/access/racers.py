"""What the processes of the race tests do. Each function runs in a process of its own, on one shared database."""

import json
import time

from minara_site.access.invitations.services import accept_invitation, renew_link
from minara_site.access.models import User
from minara_site.access.policy import Role
from minara_site.access.users import change_role, create_user, disable_user, enable_user, operators_who_sign_in
from minara_site.kernel.errors import Conflict, Gone
from tests.kit.clock import NOON

SLOT_SECONDS = 0.2
PASSWORD = "correct horse battery"
NAMES = ("olga", "oscar")


def seed() -> str:
    """Make two operators, and somebody with a link; return its token."""
    for name in NAMES:
        create_user(username=name, role=Role.OPERATOR, password=PASSWORD, now=NOON, actor="test")
    return renew_link(username="default", now=NOON, actor="test").token


def wait_for(moment: float) -> None:
    """Begin together with the others."""
    while time.time() < moment:
        time.sleep(0.001)


def take_away(name: str, rounds: int, begin: float) -> str:
    """Round by round take the operator of this name away, by turns in both ways; return what was found.

    The process of the first name brings both back at half time.
    """
    left, refused = [], 0
    for n in range(rounds):
        wait_for(begin + n * SLOT_SECONDS)
        try:
            if n % 2:
                disable_user(username=name, now=NOON, actor="test")
            else:
                change_role(username=name, role=Role.SUPPORT, now=NOON, actor="test")
        except Conflict:
            refused += 1
        left.append(operators_who_sign_in().count())
        wait_for(begin + (n + 0.5) * SLOT_SECONDS)
        if name == NAMES[0]:
            bring_back()
    return json.dumps({"fewest": min(left), "refused": refused})


def bring_back() -> None:
    for name in NAMES:
        enable_user(username=name, now=NOON, actor="test")
        change_role(username=name, role=Role.OPERATOR, now=NOON, actor="test")


def accept(token: str, name: str, begin: float) -> str:
    """Follow the link together with the others; return whose password it is, or who was too late."""
    wait_for(begin)
    try:
        accept_invitation(token=token, display_name=name, password=f"{PASSWORD} {name}", now=NOON)
    except Gone:
        return "late"
    return name


def name_of_default() -> str:
    user = User.objects.get(is_default=True)
    assert user.check_password(f"{PASSWORD} {user.display_name}")
    return user.display_name
