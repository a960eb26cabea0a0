"""What is remembered, in SQL: submissions, reports, boards, accounts, contests and webhooks."""

from app.store import (  # the metadata of all tables must know them
    account_tables,
    contest_tables,
    webhook_tables,
)
from app.store.database import Store

__all__ = ["Store", "account_tables", "contest_tables", "webhook_tables"]
