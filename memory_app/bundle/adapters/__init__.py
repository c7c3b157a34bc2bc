"""The outside of a bundle: a folder or a zip file to read, a tree to write."""

from memory_app.bundle.adapters.bundles import Bundle, BundleRefused, read_bundle

__all__ = ["Bundle", "BundleRefused", "read_bundle"]
