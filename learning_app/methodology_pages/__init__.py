"""The pages of methodologies: the list, and one with its evidence, its cases and what operators decide."""
