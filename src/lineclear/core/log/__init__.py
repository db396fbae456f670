"""What happened and what follows from it: events, the one projection into tables, audit, order."""
