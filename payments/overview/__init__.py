"""The figures of the overview page: what was charged, and what needs attention. No decision depends on them."""
