"""The jobs of learnings: the review of turns, and the end of old lines of the suggestion log."""

from datetime import datetime, timedelta

from learning_app.learnings.models import SuggestionLogEntry

FORGET = "learnings.delete_suggestions"
KEPT_FOR = timedelta(days=30)


def delete_suggestions(*, now: datetime) -> dict[str, int]:
    """Delete the lines of the suggestion log that are older than 30 days."""
    deleted, _by_model = SuggestionLogEntry.objects.filter(at__lte=now - KEPT_FOR).delete()
    return {"deleted": deleted}
