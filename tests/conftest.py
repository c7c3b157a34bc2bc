"""Fixtures for every test: a data folder of its own, a real database file, people and keys."""

import os
import tempfile
from pathlib import Path

RUN_DIR = Path(tempfile.mkdtemp(prefix="minara-test-"))
(RUN_DIR / "static").mkdir()
os.environ["MINARA_DATA_DIR"] = str(RUN_DIR)
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "minara_site.settings")
for name in ("GATEWAY_AUTH_TOKEN", "MINARA_DEBUG", "MINARA_PUBLIC_URL", "MINARA_ALLOWED_HOSTS"):
    os.environ.pop(name, None)

from hypothesis import settings  # noqa: E402

settings.register_profile("minara", deadline=None, print_blob=True)  # machines are noisy; figures come from the bench
settings.load_profile("minara")

pytest_plugins = ["tests.fixtures", "tests.browser.chromium"]
