"""`/ops/settings/`: every variable of the environment as this process reads it; secrets never. Source: screens 5."""
