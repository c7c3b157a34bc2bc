"""The outside of a bundle: a folder or a zip file to read, a tree to write."""

from pathlib import Path

from django.utils.translation import gettext as _

from memory_app.bundle.adapters.archive import open_archive
from memory_app.bundle.adapters.bundles import Bundle, BundleRefused, open_folder
from minara_site.kernel.errors import NotFound

__all__ = ["Bundle", "BundleRefused", "read_bundle"]


def read_bundle(path: Path) -> Bundle:
    """Open a folder or a zip file. Raises NotFound, and BundleRefused for a hostile member: nothing is read then."""
    try:
        if path.is_dir():
            return open_folder(path.resolve())
        if path.is_file():
            return open_archive(path)
    except OSError as error:
        raise NotFound(_("%(path)s cannot be read: %(cause)s") % {"path": path, "cause": error.strerror}) from None
    raise NotFound(_("%(path)s: expected the folder of an export, or a zip file of one.") % {"path": path})
