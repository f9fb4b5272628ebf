"""The server under test: the same case by every client, strangers, load, kills, overhead, two workers."""
