"""Asks the operation behind a tool: what is sent, what it says, what a model is given of that."""
