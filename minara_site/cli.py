"""The `minara` console script: every management command, one line instead of a traceback for what the user can mend."""

import os
import sys

from minara_site.config import ConfigError
from minara_site.kernel.errors import MinaraError


def main() -> None:
    """Run the management command named on the command line."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "minara_site.settings")
    from django.core.management import execute_from_command_line
    from django.db import OperationalError

    try:
        execute_from_command_line(sys.argv)
    except ConfigError as error:
        sys.exit(f"minara: {error}")
    except MinaraError as error:
        sys.exit(f"minara: {error.detail}")
    except OperationalError as error:
        if "--traceback" in sys.argv:
            raise
        reason = str(error).strip().partition("\n")[0]
        sys.exit(f"minara: the database refused: {reason}. Check DATABASE_URL; `minara migrate` makes the tables.")
