"""Who may use this installation, as whom, and how much."""

from app.accounts.accounts import Accounts, SignedIn
from app.accounts.callers import LOCAL, LOCAL_USER, Caller
from app.accounts.throttle import Throttle

__all__ = ["LOCAL", "LOCAL_USER", "Accounts", "Caller", "SignedIn", "Throttle"]
