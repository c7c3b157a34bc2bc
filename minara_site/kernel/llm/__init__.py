"""Model calls: one gateway, what they cost, and what they may cost. Sources: S2 (budget tracking), decisions."""
