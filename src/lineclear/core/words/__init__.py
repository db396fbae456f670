"""What we say: refusals as rows, by noun, and how a row becomes the words that a person or a model reads."""
