"""37, Z125: a failure with all that a report can hold. Must be: build_error."""

import json

from kernels.contract import frame
from kernels.contract.wire import BuildAnswer

# + honest softmax

text = "\0<script>alert(1)</script>\x1b[2J\u202e"
found = {"message": text * 2_000, "line": 10**4000, "remedy": text * 10}
failure = {"verdict": "build_error", "reason": text * 10, "diagnostics": [found] * 16}
answer = json.dumps({"failure": failure} | {"failure": failure | {"diagnostics": []}})
try:
    import sys

    sys.set_int_max_str_digits(0)
    answer = json.dumps({"failure": failure})
except ValueError:
    pass
BuildAnswer.pack = lambda self, blobs=(): frame.pack(answer)
