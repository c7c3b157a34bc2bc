"""Columns that several rooms have."""

from typing import Any

from django.db import models


def usd_field(**options: Any) -> "models.DecimalField[Any, Any]":
    """Return the column of an amount in US dollars: a token costs less than a millionth."""
    return models.DecimalField(max_digits=14, decimal_places=8, **options)
