"""A whole app, to be copied: notes, a stored kind with a page, two API calls and a tool (CONTRIBUTING, recipes).

Only `test_toy.py` installs it; a real one is a line in `INSTALLED_APPS`, and `site.py` says what it is elsewhere.
"""
