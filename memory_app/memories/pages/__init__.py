"""How memories look: their lists, and one memory as its reader sees it."""
