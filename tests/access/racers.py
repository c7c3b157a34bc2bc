"""What the processes of the race tests do, on one shared database."""

import json

from minara_site.access.invitations.services import accept_invitation, renew_link
from minara_site.access.models import User
from minara_site.access.policy import Role
from minara_site.access.users import change_role, create_user, disable_user, enable_user, operators_who_sign_in
from minara_site.kernel.errors import Conflict, Gone
from tests.kit.clock import NOON
from tests.kit.racers import in_processes, meet

PASSWORD = "correct horse battery"
NAMES = ("olga", "oscar")


def two_operators(rounds: int) -> str:
    """Let two operators be taken away at once, round by round; return what each process found."""
    for name in NAMES:
        create_user(username=name, role=Role.OPERATOR, password=PASSWORD, now=NOON, actor="test")
    return json.dumps(in_processes(*((take_away, name, rounds) for name in NAMES)))


def take_away(name: str, rounds: int) -> dict[str, int]:
    """Round by round take the operator of this name away, by turns in both ways; return what was found.

    The process of the first name brings both back after each round.
    """
    left, refused = [], 0
    for n in range(rounds):
        meet()
        try:
            if n % 2:
                disable_user(username=name, now=NOON, actor="test")
            else:
                change_role(username=name, role=Role.SUPPORT, now=NOON, actor="test")
        except Conflict:
            refused += 1
        left.append(operators_who_sign_in().count())
        meet()
        if name == NAMES[0]:
            bring_back()
    return {"fewest": min(left), "refused": refused}


def bring_back() -> None:
    for name in NAMES:
        enable_user(username=name, now=NOON, actor="test")
        change_role(username=name, role=Role.OPERATOR, now=NOON, actor="test")


def two_with_one_link() -> str:
    """Let two people follow one link at once; return what each came to, and whose password it is."""
    token = renew_link(username="default", now=NOON, actor="test").token
    found = in_processes((accept, token, "mei"), (accept, token, "eve"))
    user = User.objects.get(is_default=True)
    assert user.check_password(f"{PASSWORD} {user.display_name}")
    return json.dumps([user.display_name, *found])


def accept(token: str, name: str) -> str:
    """Follow the link; return whose password it is, or who was too late."""
    try:
        accept_invitation(token=token, display_name=name, password=f"{PASSWORD} {name}", now=NOON)
    except Gone:
        return "late"
    return name
