"""The address of the search lab, below `/memories/`."""

from django.urls import path

from memory_app.search import lab_views

app_name = "search_lab"
urlpatterns = [path("search-lab/", lab_views.lab, name="page")]
