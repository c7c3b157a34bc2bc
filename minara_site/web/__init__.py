"""What every page shares: the shell, list pages, keyset pages, error answers, template tags, charts. Knows no room."""
