"""Addresses of methodologies, below `/methodologies/`."""

from django.urls import path

from learning_app.methodology_pages import views

app_name = "methodologies"
urlpatterns = [
    path("", views.methodology_list, name="list"),
    path("<str:uid>/", views.methodology_page, name="one"),
]
