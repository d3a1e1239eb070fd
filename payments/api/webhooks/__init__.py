"""What merchants do with their webhook endpoints."""
