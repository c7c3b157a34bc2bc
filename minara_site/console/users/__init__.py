"""`/ops/users/`: who can come in, as what, and what they have open; and every change of that. Source: screens 5.

The acts themselves are in `minara_site.access`; nothing here writes past them.
"""
