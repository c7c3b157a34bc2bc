"""`/ops/governance/`: what decides by itself, how it stands, and what it would have done. Sources: S1, screens 5."""
