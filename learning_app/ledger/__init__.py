"""Round trips: what an agent bought and sold, from the opening to the exit. Source: S4 (`trade_history`)."""
