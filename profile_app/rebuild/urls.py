"""Addresses under `/profile/`."""

from django.urls import path

from profile_app.rebuild.views import profile, wallets

app_name = "profile"

urlpatterns = [
    path("", profile.profile_page, name="page"),
    path("prompt/", profile.save_prompt, name="prompt"),
    path("prompt/warn/", profile.warn, name="warn"),
    path("prompt/draft/", profile.draft, name="draft"),
    path("prompt/versions/", profile.prompt_versions, name="versions"),
    path("prompt/versions/<int:number>/restore/", profile.restore_prompt, name="restore"),
    path("settings/", profile.settings, name="settings"),
    path("wallets/add/", wallets.add_wallet, name="add_wallet"),
    path("wallets/undo/", wallets.undo_wallets, name="undo_wallets"),
    path("wallets/<str:address>/label/", wallets.label_wallet, name="label_wallet"),
    path("wallets/<str:address>/remove/", wallets.remove_wallet, name="remove_wallet"),
    path("refresh/", profile.refresh, name="refresh"),
]
