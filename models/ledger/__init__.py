"""Whether the money adds up, and what the last check found."""
