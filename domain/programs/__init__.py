"""What a campaign promises, how it may change, how far it may go, what its numbers mean."""
