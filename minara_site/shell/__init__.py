"""The frame around every page: what knows who is asking. Navigation, context, error pages, middleware, page guard."""
