"""PostgreSQL behind the store port, for teams. Only this package imports psycopg."""
