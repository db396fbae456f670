"""Use cases: each opens one transaction, asks the rules, appends what they decided."""
