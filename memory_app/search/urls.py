"""The addresses of the search page."""

from django.urls import path

from memory_app.search import views

app_name = "search"
urlpatterns = [path("", views.search, name="page")]
