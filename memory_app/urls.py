"""The app's pages, room by room."""

from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [
    path("memories/held/", include("memory_app.held.urls")),
    path("memories/", include("memory_app.memories.urls")),
    path("search/", include("memory_app.search.urls")),
    path("user-profile/", include("memory_app.user_profile.urls")),
    path("ops/writes/", include("memory_app.writes.urls")),
]
