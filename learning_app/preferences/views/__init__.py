"""The pages of preferences. Each works without JavaScript; to HTMX a row of the list answers what became of it."""
