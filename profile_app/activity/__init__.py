"""What users trade elsewhere: own wallets, local copies of their fills, figures of them. Sources: S1 (mirrors), S3."""
