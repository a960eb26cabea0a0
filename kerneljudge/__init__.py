"""The client: submit kernels to a judge and read what it says.

>>> from kerneljudge import Client
>>> with Client("http://127.0.0.1:8000") as judge:          # doctest: +SKIP
...     submission = judge.submit(source, task="softmax")
...     print(judge.wait(submission.id).verdict)
"""

from kerneljudge.client import Client
from kerneljudge.errors import JudgeError, NotFinished, Refused, Unreachable

__all__ = ["Client", "JudgeError", "NotFinished", "Refused", "Unreachable"]
