"""Changes to live keys, provider accounts and routes, which one operator requests and another approves."""
