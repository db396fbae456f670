"""The race: the same eight workers, once over a JSON file and once over lineclear."""
