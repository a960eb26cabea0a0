"""GPU models that workers have measured on."""

from collections.abc import Iterable, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from app import clock
from app.store.tables import DeviceRow
from kernels.contract import DeviceName


def measured(session: Session) -> Sequence[DeviceName]:
    """All models ever measured on, the one seen last first."""
    return session.scalars(select(DeviceRow.name).order_by(DeviceRow.seen_at.desc())).all()


def seen(session: Session, names: Iterable[DeviceName]) -> None:
    """Note that measurers of these models are there now."""
    for name in sorted(names):
        session.merge(DeviceRow(name=name, seen_at=clock.now()))
