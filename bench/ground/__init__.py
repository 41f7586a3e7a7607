"""What figures stand on: machine, processes, load, and brands with a past."""
