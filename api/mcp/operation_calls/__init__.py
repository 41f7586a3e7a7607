"""Calls the operation behind a tool: its arguments, its answer, and the result for the model."""
