"""86: torch by strings, look-alike letters and decoded source. Must be: rejected."""

import base64

import torch


def solve(x):
    code = base64.b64decode("dG9yY2gub3BzLmF0ZW4uX3NvZnRtYXguZGVmYXVsdCh4LCAxLCBGYWxzZSk=")
    return ｅｖａｌ(code.decode(), {"torch": torch, "x": x})
