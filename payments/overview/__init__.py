"""The figures of the overview page: what was charged, and how much of it is disputed. No decision depends on them."""
