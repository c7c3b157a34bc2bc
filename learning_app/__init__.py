"""What outcomes taught the agent. Sources: S2 and S4."""
