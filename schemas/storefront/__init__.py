"""What strangers send and see, on the wire."""
