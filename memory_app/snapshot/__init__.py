"""What the agent is told about the past: the fenced memory block, chosen and rendered. Source: S1 (frozen snapshot)."""
