"""The pure parts of the portrait: the ten dimensions and their values, addresses of wallets."""
