"""What an operator looks after: rows that end, and values that are sealed anew."""
