"""Conversations with the co-pilot: their entries, proposed acts, and the use of the model."""
