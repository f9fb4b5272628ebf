"""Traces and metrics for an operator, through OpenTelemetry: off until an address is set. See docs/telemetry.md."""
