"""What rails show as paid after a restore: lists, their transfers, and the payouts that are booked for them."""
