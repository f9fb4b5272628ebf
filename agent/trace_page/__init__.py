"""The trace page: a run as one HTML file that needs nothing from outside and runs no script."""
