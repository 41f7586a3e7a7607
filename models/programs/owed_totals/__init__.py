"""The amounts that programs still owe: stored by day, and summed."""
