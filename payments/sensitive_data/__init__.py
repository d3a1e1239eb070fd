"""Detection and redaction of card numbers and other secrets in text."""
