"""The guard: one judgement of every text on its way into the agent's mind. Sources: S1, S2, decisions, trust P."""
