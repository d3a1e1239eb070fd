"""Pages of events that providers reported, and of the simulator's books."""
