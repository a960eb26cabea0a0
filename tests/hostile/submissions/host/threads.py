"""Z52: starts threads until it cannot. Must be: build_error."""

import threading
import time

while True:
    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
