"""What a look at an installation finds."""

from typing import Literal

from kernels.contract._model import LongText, Model, ShortText


class Finding(Model):
    """One thing that was looked at."""

    subject: ShortText
    """What it is, such as `Redis`."""
    state: Literal["ok", "warning", "failure"]
    """`failure`: the judge cannot work so; `warning`: it works, but less well than it could."""
    detail: LongText
    """What was seen."""
    remedy: LongText = ""
    """What to do about it; empty where all is well."""
