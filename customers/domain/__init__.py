"""What merchants do with their customers."""
