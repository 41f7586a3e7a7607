"""Calls to hosts that customers chose: a name is resolved once, its address checked and pinned, with a deadline."""
