"""The event log: the kinds of events, how they change the tables, the audit, and happened-before."""
