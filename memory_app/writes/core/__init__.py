"""Pure rules: what audit entries say was written, what a roll-back would do, and what stands out."""
