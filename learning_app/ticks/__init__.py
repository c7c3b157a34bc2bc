"""What a trading agent reports each tick, and the view of its own record that it gets back. Source: S4."""
