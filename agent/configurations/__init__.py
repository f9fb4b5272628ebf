"""Published configurations: the settings and the arms of five methods, as data."""
