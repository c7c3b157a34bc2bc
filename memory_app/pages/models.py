"""The `compiled_page_versions` table: what makes a cached page of any process out of date. Source: architecture."""

from django.conf import settings
from django.db import models


class CompiledPageVersion(models.Model):
    """How often what an owner's pages are made of has changed; part of the key of every cached page."""

    owner = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="+",
    )
    version = models.PositiveBigIntegerField(default=0)

    class Meta:
        db_table = "compiled_page_versions"
        constraints = []
