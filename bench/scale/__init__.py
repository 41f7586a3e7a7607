"""What a load takes, reckoned from measured costs: processes, connections, disk, money, and what breaks first."""
