"""The project's settings in an environment of the tests' own: no variable, no `.env` and no data of this machine.

DATABASE_URL alone comes from the shell: the suite runs on both engines. Each process, xdist's workers too, gets a
folder of its own.
"""

import os
import tempfile
from pathlib import Path

from minara_site.config import Config

Config.model_config["env_file"] = None
for name in Config.model_fields.keys() - {"database_url"}:
    os.environ.pop(name.upper(), None)
for name in ("MINARA_LIMIT_READS_PER_MINUTE", "MINARA_LIMIT_WRITES_PER_MINUTE"):
    os.environ[name] = "0"  # a test calls more often than anybody; those of limits set their own
os.environ["HYPERLIQUID_INFO_URL"] = "disabled"  # no test reaches the network
os.environ["MINARA_DATA_DIR"] = tempfile.mkdtemp(prefix="minara-test-")
Path(os.environ["MINARA_DATA_DIR"], "static").mkdir()

from minara_site.settings import *  # noqa: E402, F403
from minara_site.settings import STORAGES  # noqa: E402

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # how slow the real hash is, is Django's to test
STORAGES = {  # plain names, so that no test needs `collectstatic`
    **STORAGES,
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
