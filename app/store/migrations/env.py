"""Run by Alembic: migrates the connection that `Store.migrate` hands over."""

from alembic import context

from app.store.tables import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
