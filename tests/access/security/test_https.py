"""Over https cookies belong to this host alone, and nothing is left of what `check --deploy` warns about (trust W-08)."""

import json

import pytest

from tests.kit.site import Site

pytestmark = pytest.mark.processes
PLAIN = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}


def look() -> str:
    """Open the sign-in page as a proxy with TLS does, and run the checks; return what the browser is told."""
    from django.conf import settings
    from django.core.management import call_command
    from django.test import Client, override_settings

    call_command("check", deploy=True, fail_level="WARNING")
    with override_settings(STORAGES=PLAIN):
        answer = Client().get("/login", headers={"Host": "minara.example.com", "X-Forwarded-Proto": "https"})
    cookie = answer.cookies["__Host-minara-csrf"]
    told = {name: answer[name] for name in ("Strict-Transport-Security", "Cross-Origin-Opener-Policy", "Cache-Control")}
    told["csrf"] = [
        cookie["secure"],
        cookie["samesite"],
        cookie["path"],
        cookie["domain"],
        cookie["httponly"],
    ]
    names = ("NAME", "SECURE", "SAMESITE", "HTTPONLY", "DOMAIN", "PATH")
    told["session"] = [getattr(settings, f"SESSION_COOKIE_{name}") for name in names]
    return json.dumps(told)


def test_cookies_and_headers_of_a_site_behind_tls(tmp_path):
    site = Site(tmp_path)
    try:
        site.environment["MINARA_PUBLIC_URL"] = "https://minara.example.com"
        site.environment.pop("DJANGO_ALLOW_ASYNC_UNSAFE", None)  # set for the browser's tests
        said = site.call("tests.access.security.test_https:look")
        told = json.loads(said.splitlines()[-1])
        assert told["Strict-Transport-Security"] == "max-age=31536000; includeSubDomains; preload"
        assert told["Cross-Origin-Opener-Policy"] == "same-origin"
        assert "no-store" in told["Cache-Control"]
        assert told["csrf"] == [True, "Strict", "/", "", True]
        assert told["session"] == ["__Host-minara-session", True, "Lax", True, None, "/"]
        assert "no issues" in said
    finally:
        site.close()
