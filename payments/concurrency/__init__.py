"""What keeps the threads of a process from waiting for each other, and for a server that does not answer."""
