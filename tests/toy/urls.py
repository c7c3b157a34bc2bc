"""The app's pages."""

from django.urls import path

from tests.toy.pages import NOTES

app_name = "toy"
urlpatterns = [path("notes/", NOTES.as_page(), name="notes")]
