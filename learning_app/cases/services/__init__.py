"""Writes of trading cases: record one, then resolve, attribute and judge by the learning cron."""
