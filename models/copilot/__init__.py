"""Conversations with the co-pilot: what was said, what it proposed, and how much of the model was used."""
