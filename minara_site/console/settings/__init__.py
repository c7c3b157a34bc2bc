"""`/settings/`: how the console looks and speaks to one person, their password, and who looked at their data."""
