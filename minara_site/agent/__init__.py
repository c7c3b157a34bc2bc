"""The tools that agents use, and the catalogue that lists them."""
