"""The format and the outputs of the log."""
