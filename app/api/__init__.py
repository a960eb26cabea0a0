"""The API, version 1: the service's functions over HTTP."""

from app.api.routes import router

__all__ = ["router"]
