"""Columns, checks and indexes that several rooms have."""

from collections.abc import Iterable
from typing import Any

from django.db import models
from django.db.models import Q
from django.db.models.functions import Length

models.TextField.register_lookup(Length)


def usd_field(**options: Any) -> "models.DecimalField[Any, Any]":
    """Return the column of an amount in US dollars: a token costs less than a millionth."""
    return models.DecimalField(max_digits=14, decimal_places=8, **options)


def amount_field(**options: Any) -> "models.DecimalField[Any, Any]":
    """Return the column of a price, a size or an amount of any asset: 15 significant digits of it are kept."""
    return models.DecimalField(max_digits=38, decimal_places=18, **options)


def one_of(column: str, values: Iterable[Any], name: str, *, null: bool = False) -> models.CheckConstraint:
    """Return the check that a column holds one of these values; `null` where it may hold none."""
    known = Q(**{f"{column}__in": list(values)})
    return models.CheckConstraint(condition=Q(**{f"{column}__isnull": True}) | known if null else known, name=name)


def at_most(column: str, name: str, limit: int) -> models.CheckConstraint:
    """Return the check that a text has at most so many characters."""
    return models.CheckConstraint(condition=Q(**{f"{column}__length__lte": limit}), name=name)


def demo_index(name: str) -> models.Index:
    """Return the index that finds the rows of the demo."""
    return models.Index(fields=["is_demo"], condition=Q(is_demo=True), name=name)
