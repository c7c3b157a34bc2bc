"""The pages around the rooms: home, settings, demo."""
