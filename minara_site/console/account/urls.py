"""Addresses of sign-in, first run and keys. allauth's own urls are left out: we have one way in."""

from django.urls import include, path

from minara_site.console.account import views
from minara_site.console.account.invitations import views as invitations
from minara_site.console.account.keys import views as keys
from minara_site.console.account.security import entry, views as security

pages = [
    path("welcome/", views.claim, name="claim"),
    path("welcome/<str:token>/", views.first_run, name="first_run"),
    path("invite/", invitations.accept, name="accept_invitation"),
    path("invite/<str:token>/", invitations.invitation, name="invitation"),
    path("login/passkey/", entry.passkey_sign_in, name="passkey_sign_in"),
    path("login/passkey/options/", entry.passkey_options, name="passkey_options"),
    path("settings/security/", security.overview, name="security"),
    path("settings/security/password/", security.password, name="password"),
    path("settings/security/app/", security.app, name="app"),
    path("settings/security/passkeys/new/", security.passkey_new, name="passkey_new"),
    path("settings/security/passkeys/options/", security.passkey_new_options, name="passkey_new_options"),
    path("settings/security/factors/<int:factor_id>/remove/", security.factor_remove, name="factor_remove"),
    path("settings/security/codes/", security.codes, name="codes"),
    path("settings/security/sign-ins/end/", security.sign_ins_end, name="sign_ins_end"),
    path("settings/security/sign-ins/<int:sign_in_id>/end/", security.sign_in_end, name="sign_in_end"),
    path("settings/keys/", keys.key_list, name="keys"),
    path("settings/keys/new/", keys.key_new, name="key_new"),
    path("settings/keys/<str:prefix>/revoke/", keys.key_revoke, name="key_revoke"),
]

urlpatterns = [
    path("login", views.sign_in, name="account_login"),
    path("logout", views.sign_out, name="account_logout"),
    path("mfa", entry.second_step, name="mfa_authenticate"),
    path("reauthenticate", entry.reauthenticate, name="account_reauthenticate"),
    path("", include((pages, "access"))),
]
