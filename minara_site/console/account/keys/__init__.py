"""The page of one's API keys: make one, see it once, revoke it."""
