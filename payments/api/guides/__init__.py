"""The guides (`templates/guides/`) as pages below `/docs/`."""
