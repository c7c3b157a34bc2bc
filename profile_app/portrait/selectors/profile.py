"""Reads of the financial profile: its row, and the whole portrait as data. Source: S3."""

from profile_app.portrait.models import FinancialProfile


def load_profile(owner_id: int) -> FinancialProfile:
    """Return an owner's row, one that is not stored, with the usual settings, where there is none. One query."""
    stored: FinancialProfile | None = FinancialProfile.objects.filter(pk=owner_id).first()
    return stored or FinancialProfile(owner_id=owner_id)
