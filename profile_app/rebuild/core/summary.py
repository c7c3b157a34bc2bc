"""The trading summary: four fields out of figures, composed into two texts. Source: S3 (three-source summary). Pure."""

from typing import Annotated, Final

from pydantic import Field

from minara_site.kernel.core.fence import fence_text
from profile_app.rebuild.core import DATA, ModelAnswer

MAX_TOKENS, MAX_PART_CHARS = 1_200, 700
THRESHOLD = 3
"""As many new rows of the three sources together make a rebuild worthwhile (decisions)."""

SYSTEM: Final = f"""\
You summarise what one user of a finance agent trades, for the agent to know them by.

{DATA}
It holds figures of 90 days from three sources, a sample of what is new, and the summary until now. The sources may \
hold the same trade: never add them up. A source that says "not known" is not known, which is not "none": write \
nothing of it.

- platformWalletSummary: two or three plain sentences on what and how they trade, and what came of it.
- spotBreakdown: one or two sentences on spot alone; empty where there is nothing.
- perpsBreakdown: one or two sentences on derivatives alone; empty where there is nothing.
- referenceWalletsSummary: one or two sentences on the wallets that they follow; empty where none is known.
At most {MAX_PART_CHARS} characters each. Only what the figures say: no advice, no guesses about the person, and never \
what is listed as wrong."""


Part = Annotated[str, Field(max_length=MAX_PART_CHARS)]


class SummaryAnswer(ModelAnswer):
    """What a model says of a user's trades."""

    platform_wallet_summary: Part = Field(alias="platformWalletSummary", description="What they trade, how it went.")
    spot_breakdown: Part = Field(default="", alias="spotBreakdown", description="Spot alone, or empty.")
    perps_breakdown: Part = Field(default="", alias="perpsBreakdown", description="Derivatives alone, or empty.")
    reference_wallets_summary: Part = Field(default="", alias="referenceWalletsSummary", description="Or empty.")


def compose_summary(answer: SummaryAnswer, *, has_spot: bool, has_perps: bool) -> str:
    """Return the text of the platform's summary, with a line for each source that is known."""
    parts = (
        ("", answer.platform_wallet_summary),
        ("Spot: ", answer.spot_breakdown if has_spot else ""),
        ("Perps: ", answer.perps_breakdown if has_perps else ""),
    )
    return "\n".join(label + fence_text(text) for label, text in parts if text.strip())
