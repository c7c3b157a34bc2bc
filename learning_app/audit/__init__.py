"""The learning audit: one number for the health of the learning loop, and the rows behind it (S2, audit subsystem).

It reads methodologies, lifecycle events, cases and heartbeats and changes none of them.
"""
