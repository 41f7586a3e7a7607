"""What strangers send and see, in the API."""
