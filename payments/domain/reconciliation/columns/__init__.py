"""Files of any columns: what a layout says of them, how they are read by it, and how one is proposed."""
