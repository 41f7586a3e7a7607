"""What a payment gateway tells us, in words that are the same for all of them, and what may be read from it."""
