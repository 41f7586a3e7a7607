"""Pages of switches from another affiliate system."""
