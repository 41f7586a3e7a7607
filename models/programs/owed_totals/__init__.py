"""What programs still owe: stored by day, and summed."""
