"""The page of prices."""
