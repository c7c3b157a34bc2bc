"""The pages of memories. Each works without JavaScript; to HTMX the same address answers the piece that changed."""
