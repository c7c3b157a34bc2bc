"""The app's pages, room by room."""

from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [
    path("memories/", include("memory_app.memories.urls")),
    path("search/", include("memory_app.search.urls")),
    path("user-profile/", include("memory_app.user_profile.urls")),
]
