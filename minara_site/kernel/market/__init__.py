"""Prices: bars and points, where they come from, and what an asset cost at a moment. Source: S0 (price_delta)."""
