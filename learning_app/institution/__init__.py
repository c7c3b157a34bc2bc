"""Institution runs: a committee of model roles decides on one ticker, and prices score it later. Source: S2.

No run places an order. What roles write besides the fields of their answers is discarded.
"""
