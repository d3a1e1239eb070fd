"""Objects of the API, each declared once: how a row is shown, what the document says of it, and its example."""
