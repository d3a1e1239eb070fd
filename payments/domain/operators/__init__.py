"""Operators' actions on charges, done by the API's verbs: at once, or after a second operator has approved them."""
