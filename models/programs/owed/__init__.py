"""What programs still owe: kept by day, and summed."""
