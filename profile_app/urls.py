"""The app's pages, room by room."""

from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [path("prompt/", include("profile_app.prompt.urls"))]
