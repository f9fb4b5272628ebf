"""One module a task, and the registry that lists them."""
