"""The pages of the profile and of its tags."""
