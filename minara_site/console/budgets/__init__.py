"""`/ops/budgets/`: what model calls cost and may cost, who spent it, and a cap raised for one window. Source: U-24."""
