"""The full-text index of one's texts and the language in which it is asked. Source: S1 (memory_search); trust R-26."""
