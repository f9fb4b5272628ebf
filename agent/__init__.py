"""What a user touches: settings, assembly, Agent, sessions, traces and the command line."""
