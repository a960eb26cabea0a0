"""Z53: no child can be waited for any more. Must be: build_error or checked."""

import signal

# + honest softmax

signal.signal(signal.SIGCHLD, signal.SIG_IGN)
