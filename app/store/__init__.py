"""What is remembered: submissions, reports, plans, devices and boards, in SQL."""

from app.store.database import Store

__all__ = ["Store"]
