"""The portrait that writes itself: summary, tags and memories out of trades and turns. Source: S3 (rebuild flows)."""
