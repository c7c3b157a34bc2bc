"""What agents and operators say something cost, and `/ops/prices/`: which of it is in doubt, and the newest."""
