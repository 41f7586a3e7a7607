"""What no-code platforms send and are shown: hooks, samples, searches."""
