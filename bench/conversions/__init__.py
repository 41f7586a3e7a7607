"""Sales accepted and settled; conversions listed, exported, imported."""
