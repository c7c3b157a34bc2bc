"""What the agent remembers. Sources: S1 and S0."""
