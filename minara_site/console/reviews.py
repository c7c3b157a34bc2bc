"""The console's kinds of items that wait for a person."""

from minara_site.console.quarantine.holds import HoldReview

REVIEWS = (HoldReview(),)
