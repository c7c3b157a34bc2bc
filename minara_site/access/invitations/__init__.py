"""One-time links by which somebody chooses a password: at the beginning, or after theirs was lost. Source: screens 5.

An operator makes a link and hands it over; no e-mail is sent. Only the SHA-256 of its token is stored.
"""
