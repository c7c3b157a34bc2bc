"""The caller of a request: a person in the browser or a key, with what the policy lets them do."""

from dataclasses import dataclass
from datetime import datetime
from typing import NoReturn

from django.utils.translation import gettext as _

from minara_site.access.models import User
from minara_site.access.policy import ENROLMENT, POLICY, Act, Role, Scope, permits
from minara_site.kernel.core.vocabulary import GATEWAY_ACTOR
from minara_site.kernel.errors import NotFound, Refused, Unauthenticated, or_not_found
from minara_site.kernel.ownership import ALL_OWNERS, EVERYONE, Owner
from minara_site.kernel.plain_text import storable_problem


class SecondFactorDue(Refused):
    """An operator without a second factor, whose first session is over; the page that adds one is open."""

    code = "second_factor_required"


class NotFresh(Refused):
    """The act asks for a sign-in of the last ten minutes."""

    code = "sign_in_again"


@dataclass(frozen=True, slots=True)
class Principal:
    """Who calls. `scopes` is None in the browser; `key_prefix` names the key otherwise.

    `is_fresh` says that the person proved within ten minutes who they are. `factor_due_at` is until when an operator
    without a second factor may go on, `must_enrol` that this moment has passed.
    """

    user: User | None = None
    role: Role = Role.ANONYMOUS
    scopes: frozenset[Scope] | None = None
    key_prefix: str = ""
    is_fresh: bool = False
    factor_due_at: datetime | None = None
    must_enrol: bool = False

    @property
    def is_operator(self) -> bool:
        """Whether operators' reach is open to this caller; a key needs the scope `operator` for it."""
        return self.role is Role.OPERATOR and (self.scopes is None or Scope.OPERATOR in self.scopes)

    @property
    def is_key(self) -> bool:
        """Whether an agent calls with a key, and no person in the browser."""
        return self.scopes is not None

    @property
    def is_gateway(self) -> bool:
        """Whether this is the owner's own interface: `GATEWAY_AUTH_TOKEN`."""
        return self.actor == GATEWAY_ACTOR

    @property
    def is_support(self) -> bool:
        return self.role is Role.SUPPORT

    @property
    def actor(self) -> str:
        """Return the name that the audit log and provenance keep."""
        if self.key_prefix:
            return f"key:{self.key_prefix}"
        return f"user:{self.user.pk}" if self.user else "anonymous"

    @property
    def owner(self) -> User:
        """Return the user whose rows this caller owns. Raises Unauthenticated for a stranger."""
        if self.user is None:
            raise Unauthenticated(_("Sign in, or send an API key as a bearer token."))
        return self.user

    def may(self, act: Act) -> bool:
        """Say whether the policy lets this caller do the act."""
        return permits(act, self.role, self.scopes)

    def require(self, act: Act) -> None:
        """Raise Unauthenticated, Refused, SecondFactorDue or NotFresh unless the caller may do the act now."""
        if not self.may(act):
            self.refuse(act)
        if self.must_enrol and act not in ENROLMENT:
            raise SecondFactorDue(_("Operators need a second factor. Add one under Settings, Security."))
        if POLICY[act].fresh and not self.is_fresh:
            raise NotFresh(_("Confirm that it is you: your last sign-in is more than 10 minutes ago."))

    def refuse(self, act: Act) -> NoReturn:
        """Raise what says why the policy does not let this caller do the act."""
        if self.user is None:
            raise Unauthenticated(_("Sign in, or send an API key as a bearer token."))
        scope = POLICY[act].scope
        if self.scopes is not None and scope is not None and scope not in self.scopes:
            raise Refused(
                _("This key needs the scope %(scope)s.") % {"scope": scope},
                code="missing_scope",
            )
        raise Refused(_("Your account type may not do this."), code="role")

    def reads_others(self, act: Act) -> bool:
        """Say whether this caller may do the act to rows of other owners; an operator's key needs its scope for it."""
        may_reach = self.is_operator or self.role is not Role.OPERATOR
        return may_reach and self.role in POLICY[act].others

    def reads(self, act: Act, owner_name: str | None = None) -> Owner:
        """Return whose rows this caller reads for the act: their own, unless the policy lets them name another owner.

        `all` means every owner. An unknown name, or a foreign one that this caller may not name, is NotFound.
        """
        if not owner_name or (self.user is not None and owner_name == self.user.username):
            return self.owner
        if not self.reads_others(act) or storable_problem(owner_name):
            raise NotFound(_("There is no such owner."))
        if owner_name == ALL_OWNERS:
            return EVERYONE
        return or_not_found(User.objects.named(owner_name).first(), _("There is no such owner."))

    def reaches(self, act: Act) -> Owner:
        """Return whose single objects this caller may open by id: in the browser staff open anyone's."""
        if self.scopes is None and self.reads_others(act):
            return EVERYONE
        return self.reads(act)


ANONYMOUS = Principal()
