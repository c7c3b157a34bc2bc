"""The `minara` console script: every management command, one line instead of a traceback for what the user can mend."""

import os
import sys

from minara_site.config import ConfigError
from minara_site.kernel.errors import MinaraError


def main() -> None:
    """Run the management command named on the command line."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "minara_site.settings")
    from django.core.management import execute_from_command_line
    from django.db import DatabaseError

    try:
        execute_from_command_line(sys.argv)
        sys.stdout.flush()
    except ConfigError as error:
        sys.exit(f"minara: {error}")
    except MinaraError as error:
        sys.exit(f"minara: {error.detail}")
    except KeyboardInterrupt:
        sys.exit("minara: interrupted.")
    except BrokenPipeError:  # whoever read the output has seen enough; the rest goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (DatabaseError, OSError) as error:
        if "--traceback" in sys.argv:
            raise
        sys.exit(f"minara: {explain(error)}")


def explain(error: Exception) -> str:
    """Return in one line what the machine or the database refused, and what to do."""
    reason = str(error).strip().partition("\n")[0]
    if isinstance(error, OSError):
        return f"the machine refused: {reason}. Mend it, or set MINARA_DATA_DIR to another folder."
    return f"the database refused: {reason}. Check DATABASE_URL; `minara migrate` makes the tables."
