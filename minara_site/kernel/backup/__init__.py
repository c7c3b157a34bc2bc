"""Backups: one sealed file that holds an instance, its restore, and the schedule. Source: contract, trust R-41."""
