"""The state machine: state, nodes, routes, the local and model judgements, and one file that draws it."""
