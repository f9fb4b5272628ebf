"""The replay kit: requests and replies of a run kept as files, played by hand or by a model, and answers compared."""
