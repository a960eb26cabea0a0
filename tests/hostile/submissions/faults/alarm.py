"""119: a signal handler that raises in the judge's code. Must be: build_error or runtime_error."""

import signal

# + honest softmax


def ring(number, frame):
    raise SystemExit(0)


signal.signal(signal.SIGALRM, ring)
signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
