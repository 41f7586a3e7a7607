"""Calls to hosts that customers chose: a name is resolved once, its address vetted and pinned, the deadline kept."""
