"""The page of the tags."""
