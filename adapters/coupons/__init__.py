"""Creates discount codes at the gateways whose API allows it, and deactivates them."""
