"""What operators do beside decisions: cases, lookups, responses to disputes, and what one of them may do alone."""
