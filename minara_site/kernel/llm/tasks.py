"""What the worker does for the budget: reservations that count no more leave the table."""

from datetime import datetime

from minara_site.kernel.llm.models import BudgetReservation


def delete_expired(*, now: datetime) -> dict[str, int]:
    """Delete what calls left that never ended; running it again deletes nothing more."""
    return {"deleted": BudgetReservation.objects.filter(expires_at__lte=now).delete()[0]}
