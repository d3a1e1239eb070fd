"""What is kept in text columns: no card number, and nothing that PostgreSQL refuses."""
