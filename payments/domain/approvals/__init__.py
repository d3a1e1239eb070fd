"""What one operator requests and another decides: one table, one set of verbs, and an executor for each kind."""
