"""Lessons out of a deployment's trades, revision by revision, and whether they help. Source: S4 (reflection notes)."""
