"""What is remembered: submissions, reports, plans, boards, accounts and contests, in SQL."""

from app.store import account_tables, contest_tables  # the metadata of all tables must know them
from app.store.database import Store

__all__ = ["Store", "account_tables", "contest_tables"]
