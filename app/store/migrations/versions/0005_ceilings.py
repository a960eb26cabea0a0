"""What a GPU of each model reached when its worker last started."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Not known of the models so far."""
    op.add_column("devices", sa.Column("ceilings", sa.Text))


def downgrade() -> None:
    """Forget them."""
    op.drop_column("devices", "ceilings")
