"""What Xendit can be asked later: how a payment or operation ended, and what it lists as moved."""
