"""The tools of agents: which there are, and how each is bound to its operation."""
