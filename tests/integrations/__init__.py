"""What of integrations/ can be told without running it."""
