"""All wording of refusals: one row each, by noun, and how a row becomes the text that a person or model
reads."""
