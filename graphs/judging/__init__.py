"""What several local judgements share: relevance, the polarity of a claim, and key terms of a question."""
