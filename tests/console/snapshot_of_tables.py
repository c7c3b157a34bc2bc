"""What every table holds, as hashes."""

import hashlib
from collections.abc import Collection

from django.apps import apps
from django.db import models

QUEUE_APPS = {"django_q"}


def table_hashes(*, without: Collection[str] = ()) -> dict[str, str]:
    """Return a hash per table over every column of every row, in the order of the key."""
    models_ = [model for model in apps.get_models() if model._meta.app_label not in QUEUE_APPS]
    return {
        model._meta.db_table: rows_hash(model)
        for model in models_
        if model._meta.db_table not in without and not model._meta.proxy
    }


def rows_hash(model: type[models.Model]) -> str:
    columns = [field.attname for field in model._meta.concrete_fields]
    rows = model._base_manager.order_by("pk").values_list(*columns)
    return hashlib.sha256("\n".join(map(repr, rows)).encode()).hexdigest()
