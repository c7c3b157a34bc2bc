"""`/ops/status/` and `/metrics`: the state of the instance in bounded reads. Source: screens 5 and U-38, contract."""
