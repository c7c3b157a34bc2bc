"""`/`: what changed, what the agent reads next, and what wants a person; by role."""
