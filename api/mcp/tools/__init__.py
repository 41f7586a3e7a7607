"""The tools of agents, and their binding to operations."""
