"""Addresses under `/prompt/`."""

from django.urls import path

from profile_app.prompt.views import prompt_page, prompt_text

app_name = "prompt"

urlpatterns = [path("", prompt_page, name="page"), path("text", prompt_text, name="text")]
