"""How often somebody may do something, counted for all processes together. Source: trust W-10 and W-13."""
