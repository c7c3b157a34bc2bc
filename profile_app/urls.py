"""The app's pages, room by room."""

from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [
    path("ops/internals/capital/", include("profile_app.capital.urls")),
    path("ops/internals/strategy-runs/", include("profile_app.strategies.urls")),
    path("conversations/", include("profile_app.conversations.urls")),
    path("onboarding/", include("profile_app.onboarding.urls")),
    path("profile/", include("profile_app.rebuild.urls")),
    path("profile/activity/", include("profile_app.activity.urls")),
    path("profile/changes/", include("profile_app.rebuild.changes_urls")),
    path("profile/tags/", include("profile_app.portrait.tags_urls")),
    path("prompt/", include("profile_app.prompt.urls")),
    path("workspace/", include("profile_app.workspace.urls")),
]
