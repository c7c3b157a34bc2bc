"""The project's settings with the reference view mounted."""

from minara_site.settings import *  # noqa: F403

ROOT_URLCONF = "tests.bench.http_urls"
