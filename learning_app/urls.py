"""The app's pages, room by room."""

from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [
    path("audit/", include("learning_app.audit.urls")),
    path("learnings/", include("learning_app.learnings.urls")),
    path("methodologies/", include("learning_app.methodology_pages.urls")),
    path("institution/", include("learning_app.institution.urls")),
    path("lessons/", include("learning_app.lessons.urls")),
    path("ledger/", include("learning_app.ticks.urls")),
    path("ledger/", include("learning_app.ledger.urls")),
    path("trading-cases/", include("learning_app.cases.urls")),
    path("profile/preferences/", include("learning_app.preferences.urls")),
]
