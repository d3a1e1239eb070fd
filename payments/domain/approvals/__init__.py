"""Changes to live keys, provider accounts, routes and payouts, which one operator requests and another approves."""
