"""The kinds of rows of this app that a roll-back changes; `memory_app/rollbacks.py` lists them."""
