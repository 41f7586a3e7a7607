"""How one of the numbered files of `models/migrations` is applied (`steps`). In which order: `models/migrate.py`."""
