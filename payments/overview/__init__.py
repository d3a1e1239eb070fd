"""Whether everything is well, and what waits for operators: figures, read and never decided upon."""
