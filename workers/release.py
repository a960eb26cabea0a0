"""Service and workers must have the same tasks."""

from kernels.catalog import Catalog, TaskFolder
from workers.answers import JudgeFault
from workers.settings import Settings


def folder_of(settings: Settings, task: str, version: int) -> TaskFolder:
    """A task's folder; JudgeFault unless this worker has that version of it."""
    folder = Catalog(settings.tasks_dir)[task]
    if folder.task.version != version:
        raise JudgeFault(
            f"this worker has version {folder.task.version} of task {task}, the service has "
            f"{version}: update both to one release"
        )
    return folder
