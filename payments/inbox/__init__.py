"""What needs attention: a table of the sorts of entries, an operator's sections, and messages about what is new."""
