"""Writes of the audit: a pass, its cron, acknowledgements."""
