"""`/v1/profile`: the profile, and its tags."""
