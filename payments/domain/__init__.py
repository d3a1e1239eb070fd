"""The verbs that change money's state; the only room that does."""
