"""GPU models that workers have measured on, and what their GPUs reach."""

from collections.abc import Mapping, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from app import clock
from app.store.tables import DeviceRow
from kernels.contract import Ceilings, DeviceName


def measured(session: Session) -> Sequence[DeviceName]:
    """All models ever measured on, the one seen last first."""
    return session.scalars(select(DeviceRow.name).order_by(DeviceRow.seen_at.desc())).all()


def ceilings(session: Session) -> dict[DeviceName, Ceilings]:
    """What a GPU of each model reached when its worker last started, where that is known."""
    rows = session.execute(select(DeviceRow.name, DeviceRow.ceilings).order_by(DeviceRow.name))
    return {name: Ceilings.model_validate_json(text) for name, text in rows if text}


def seen(session: Session, found: Mapping[DeviceName, Ceilings | None]) -> None:
    """Note that measurers of these models are there now; None leaves what was known."""
    for name in sorted(found):
        row = session.merge(DeviceRow(name=name, seen_at=clock.now()))
        reached = found[name]
        if reached is not None:
            row.ceilings = reached.model_dump_json()
