"""The offline extractor: insights from a whole session by rules, without a model."""
