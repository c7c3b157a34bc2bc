"""Memories from elsewhere, whatever product wrote them. Reads files, judges each entry, writes slices.

Must never overwrite what is stored, follow a link out of the directory, or store half of an entry.
"""
