"""What zipfile raises for a file that is damaged, encrypted or no zip."""

import zipfile
import zlib

BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError, OSError)
