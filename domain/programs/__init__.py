"""A campaign's terms, their limits, how they may change, and the meaning of its numbers."""
