"""Order of learning: the concept with the larger signal a = scale^2 + mean^2 / K comes first."""
