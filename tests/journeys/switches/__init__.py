"""What happens after a switch from another affiliate system."""
