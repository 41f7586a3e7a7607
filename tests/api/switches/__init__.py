"""Routes of switches from another affiliate system."""
