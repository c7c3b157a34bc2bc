"""What the tool and the API take alike."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from memory_app.roles.core.prompts import MAX_DECISION_CHARS
from minara_site.web.schemas import Strict


class NewDecision(Strict):
    """A decision that a role made."""

    role_id: Annotated[str, Field(max_length=120, description="A declared role, such as market.spot.momentum.")]
    inputs: Annotated[
        dict[str, Any],
        Field(
            description="What the decision was based on. A role that is judged by the price needs asset and direction "
            "(bullish, bearish or neutral). No secrets."
        ),
    ]
    decision: Annotated[
        str, Field(description=f"What was decided and why, 1 to {MAX_DECISION_CHARS} characters. No secrets.")
    ]
    decided_at: Annotated[datetime | None, Field(description="When it was decided, ISO 8601; leave out for now.")] = (
        None
    )
