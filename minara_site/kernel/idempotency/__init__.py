"""Calls that are sent twice and happen once (trust W-14; draft-ietf-httpapi-idempotency-key-header)."""
