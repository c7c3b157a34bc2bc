"""Addresses of the roles, below `/roles/`."""

from django.urls import path

from memory_app.roles.views import roles

app_name = "roles"
urlpatterns = [
    path("", roles.role_list, name="list"),
    path("<str:role_id>/", roles.role_page, name="one"),
    path("<str:role_id>/reflect/", roles.reflect, name="reflect"),
]
