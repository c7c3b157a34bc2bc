"""The pages of exports and imports, and what both share."""
