"""Where the graph's knowledge ends: how well it explains a case, and what of the case it leaves unexplained."""
