"""The console's kinds of items that wait for a person."""

from minara_site.console.quarantine.holds import HoldReview
from minara_site.shell.proposed import ProposedReview

REVIEWS = (HoldReview(), ProposedReview())
