"""What must be true of the money at every moment: one query each, which finds what breaks it."""
