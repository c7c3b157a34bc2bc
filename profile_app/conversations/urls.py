"""Addresses under `/conversations/`."""

from django.urls import path

from profile_app.conversations import views

app_name = "conversations"

urlpatterns = [path("<str:session_id>/", views.conversation_page, name="page")]
