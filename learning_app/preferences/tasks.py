"""The job that mines preferences."""

from datetime import datetime
from typing import Any

from learning_app.preferences.services.mine import mine_preferences
from minara_site.kernel.jobs.services import Claim


def mine(*, now: datetime, claim: Claim | None = None) -> dict[str, Any]:
    """Read the turns that were not read yet; running it again goes on behind the cursors."""
    return mine_preferences(now=now, claim=claim)
