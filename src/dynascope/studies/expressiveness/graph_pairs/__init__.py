"""Graph pairs: what one family of models tells apart and another does not."""
