"""Training and fitting of what the product ships, and the commands for it."""
