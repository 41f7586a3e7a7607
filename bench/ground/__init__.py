"""The environment of the measurements: machine, processes, load, and brands with earlier conversions."""
