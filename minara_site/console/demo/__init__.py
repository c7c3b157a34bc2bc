"""Demo data: a trader, a second owner, sessions and history, dated relative to now. Loaded and removed as a whole."""
