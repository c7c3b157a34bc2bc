"""The page of the profile, and what is new about its owner."""
