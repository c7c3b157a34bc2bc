"""What is known around an asset, chain or address: the memories and decisions that mention it. Source: S1."""
