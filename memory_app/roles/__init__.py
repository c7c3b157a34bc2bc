"""Role memory: decisions of declared roles, what the market answered, and the lesson. Source: S0."""
