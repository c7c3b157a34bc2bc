"""Sessions and turns: what was said, with redacted tool arguments. Learning, memory and profile all read them."""
