"""How good the radar is: labelled scenarios, real merges, planted conflicts, and what a pass costs."""
