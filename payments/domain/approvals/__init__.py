"""Changes to who may move live money and by which provider, which one operator requests and another approves."""
