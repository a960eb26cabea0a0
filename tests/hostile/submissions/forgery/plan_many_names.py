"""P1: a plan that is right, and as large as one may be by the names of its configurations.

Must be: checked or rejected."""

import json

from kernels.contract import Bundle, frame

# + honest softmax

honest_pack = Bundle.pack


def pack(bundle):
    header, blobs = frame.unpack(honest_pack(bundle))
    document = json.loads(header)
    case = document["plan"]["cases"][0]
    launch = case["steps"][0]
    case["steps"] = [
        {
            "kind": "choice",
            "id": number,
            "function": "f",
            "alternatives": [
                {
                    "config": f"{number} {which} " + "\1" * 480,
                    "steps": [launch] if which < 1 else [],
                }
                for which in range(20)
            ],
        }
        for number in range(500)
    ]
    return frame.pack(json.dumps(document), blobs)


Bundle.pack = pack
