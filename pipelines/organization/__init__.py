"""What happens to a tenant: made, set up, signed in to; keys, capacity, pictures."""
