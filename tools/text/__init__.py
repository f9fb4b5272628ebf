"""Text utilities: language, sentences, tokens, clauses with negation, abbreviations."""
