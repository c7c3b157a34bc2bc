"""Addresses of the held texts, of those decided on, and of the review queue."""

from django.urls import URLPattern, path

from minara_site.console.quarantine import review, views

held: list[URLPattern] = [
    path("", views.queue, name="list"),
    path("bulk/", views.bulk, name="bulk"),
    path("<int:hold_id>/", views.one, name="one"),
    path("<int:hold_id>/release/", views.release, name="release"),
    path("<int:own_hold_id>/let-in/", views.let_in, name="let_in"),
    path("<int:hold_id>/discard/", views.discard, name="discard"),
    path("<int:hold_id>/again/", views.again, name="again"),
    path("<int:hold_id>/undo/", views.undo, name="undo"),
]
decided: list[URLPattern] = [
    path("", views.decided, name="list"),
    path("<int:hold_id>/", views.decided_one, name="one"),
]
queue: list[URLPattern] = [
    path("", review.queue, name="list"),
    path("verdict/", review.verdict, name="verdict"),
    path("undo/<str:review_items>/", review.undo, name="undo"),
    path("claim/<slug:review_kind>/<str:review_key>/", review.claim_item, name="claim"),
    path("<slug:review_kind>/<str:review_key>/", review.one, name="one"),
]
