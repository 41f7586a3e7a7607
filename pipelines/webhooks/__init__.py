"""Events on their way out: `emit` writes them, `delivery` sends them, `endpoints` says where to."""
