"""`/settings/`: how the console looks and speaks to one person, and who looked at their data."""
