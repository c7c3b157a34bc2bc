"""The general fact layer: one clean fact per topic, with its trail. Source: S1 (general fact layer)."""
