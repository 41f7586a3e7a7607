"""The actors, one file per queue: the function of each kind of job."""
