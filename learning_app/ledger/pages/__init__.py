"""How the ledger looks: one's ledgers, one of them by day and by trade, one round trip."""
