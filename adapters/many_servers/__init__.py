"""Redis or Valkey as several servers that stand for one: watched by Sentinels, or a cluster. The broker chooses."""
