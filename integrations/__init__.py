"""What runs at others': clients of the interface, and what writes them."""
