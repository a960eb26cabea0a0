"""What a track is: tasks in the order of a course, and what each of them teaches."""

from pydantic import Field

from kernels.contract._model import Model, Name, ShortText


class Step(Model):
    """One task of a track."""

    task: Name
    teaches: ShortText
    """The fact about the hardware that one learns by it."""
    watch: ShortText
    """The figure of the report that shows whether one has."""


class Part(Model):
    """Tasks that belong together."""

    title: ShortText
    steps: tuple[Step, ...] = Field(min_length=1)


class Track(Model):
    """A course, as its file under tracks/ states it."""

    name: Name
    title: ShortText
    summary: ShortText
    parts: tuple[Part, ...] = Field(min_length=1)

    @property
    def tasks(self) -> tuple[str, ...]:
        """Its tasks in order."""
        return tuple(step.task for part in self.parts for step in part.steps)
