"""The app's pages, room by room."""

from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [
    path("memories/", include("memory_app.memories.urls")),
    path("memories/", include("memory_app.why.urls")),
    path("memories/", include("memory_app.entities.urls")),
    path("facts/", include("memory_app.facts.urls")),
    path("memories/", include("memory_app.search.lab_urls")),
    path("memories/", include("memory_app.writes.brought_in_urls")),
    path("search/", include("memory_app.search.urls")),
    path("assets/", include("memory_app.pages.urls")),
    path("user-profile/", include("memory_app.user_profile.urls")),
    path("roles/", include("memory_app.roles.urls")),
    path("role-memory/", include("memory_app.roles.memory_urls")),
    path("ops/embeddings/", include("memory_app.embeddings.urls")),
    path("ops/doctor/", include("memory_app.doctor.urls")),
    path("ops/writes/", include("memory_app.writes.urls")),
    path("ops/", include("memory_app.bundle.urls")),
]
