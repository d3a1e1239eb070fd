"""The guides (`templates/guides/`) as pages below `/docs/`; nothing here answers a payment."""
