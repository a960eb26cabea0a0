"""The web service: API, pages, store, queue client and events."""
