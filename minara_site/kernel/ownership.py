"""Owned rows: one queryset method, `for_owner`, is the only way a surface reads them (decisions: tenancy).

What must happen in turn among the rows of one owner takes the owner's lock first (decisions: order of ids).
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any, ClassVar, Self

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser
from django.db import connection, models, transaction


class Everyone(Enum):
    """The reading of an operator who looks across all owners. Only `access.principal` hands it out."""

    EVERYONE = "everyone"


EVERYONE = Everyone.EVERYONE
ALL_OWNERS = "all"  # `?owner=all` and `--user all` name every owner
Owner = AbstractBaseUser | Everyone


class OwnedQuerySet(models.QuerySet[Any]):
    """Rows that belong to somebody."""

    def for_owner(self, owner: Owner) -> Self:
        """Keep the rows of this owner; EVERYONE keeps all."""
        return self if owner is EVERYONE else self.filter(owner=owner)


def lock_owner(owner_id: int) -> None:
    """Let one transaction at a time go on for this owner, until it ends; take it before any lock on the owner's rows.

    Needs a transaction. On SQLite every transaction that writes has the whole database already.
    """
    if connection.features.has_select_for_update:
        get_user_model()._default_manager.select_for_update(no_key=True).filter(pk=owner_id).values_list("pk").first()  # noqa: SLF001


@contextmanager
def owner_locked(owner_id: int) -> Iterator[None]:
    """Keep others from changing what an owner has meanwhile."""
    with transaction.atomic():
        lock_owner(owner_id)
        yield


def lock_owners(owner_ids: Iterable[int | None]) -> None:
    """Lock several owners, in the order in which everybody does; None is the instance, which needs no lock."""
    for owner_id in sorted(filter(None, set(owner_ids))):
        lock_owner(owner_id)


def owner_key(*, null: bool = False) -> "models.ForeignKey[Any, Any]":
    """Return the column that says whose row this is; `null` for rows that the instance may have."""
    user = settings.AUTH_USER_MODEL
    return models.ForeignKey(
        user,
        on_delete=models.CASCADE,
        related_name="+",
        db_index=False,
        null=null,
    )


class OwnedManager(models.Manager.from_queryset(OwnedQuerySet)):  # type: ignore[misc]
    """Rows that belong to somebody; with a name of its own mypy takes it for no other table's."""


class OwnedRow(models.Model):
    """A row that belongs to somebody; a table with predicates of its own brings its own `objects`."""

    owner = owner_key()

    objects: ClassVar[Any] = OwnedManager()

    class Meta:
        abstract = True
