"""Owned rows: one queryset method, `for_owner`, is the only way a surface reads them (decisions: tenancy)."""

from enum import Enum
from typing import Any, Self

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db import models


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


def owner_key(*, null: bool = False) -> "models.ForeignKey[Any, Any]":
    """Return the column that says whose row this is; `null` for rows that the instance may have."""
    user = settings.AUTH_USER_MODEL
    return models.ForeignKey(user, on_delete=models.CASCADE, related_name="+", db_index=False, null=null)
