"""The app's kinds of items that wait for a person."""

from learning_app.methodology_pages.review import KeptBackReview, NewMethodologyReview
from learning_app.preferences.review import ProposalReview

REVIEWS = (NewMethodologyReview(), KeptBackReview(), ProposalReview())
