"""What we say: refusals, quoted words, and how both become text."""
