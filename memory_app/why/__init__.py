"""Why the agent believes something: what a memory comes from, where it was read, what would change without it.

Source: screens U-16. The log of searches is kept here; every door that searches calls `log_search` once.
"""
