"""11, 16, honest: captures a graph, uses streams and a thread. Must be: checked."""

import threading

import torch

# + honest softmax

honest = solve  # noqa: F821


def solve(x):
    found = []
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        worker = threading.Thread(target=lambda: found.append(honest(x)))
        worker.start()
        worker.join()
    torch.cuda.current_stream().wait_stream(stream)
    return found[0]
