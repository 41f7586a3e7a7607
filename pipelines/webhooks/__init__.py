"""Events on their way out: `emit` writes them, `deliver` sends them, `manage` says where to."""
