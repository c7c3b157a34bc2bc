"""What the guard holds of memories and of the user profile: the queue, and the decisions on it."""
