"""The radar's stories: what a pass found is recorded, and agents hear of it."""
