"""P12, Z43: loops for ever and keeps SIGTERM away. Must be: timeout."""

import signal

signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True:
    pass
