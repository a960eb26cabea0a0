"""49, 77, 106: imports the reference, the catalogue and the measurer.

Must be: checked."""

import importlib

# + honest softmax

for name in (
    "kernels.catalog",
    "kernels.tasks.softmax.reference",
    "app.settings",
    "app.store",
    "tests.hostile",
    "scripts.stack",
):
    try:
        importlib.import_module(name)
        print("LEAKED", name)
    except ImportError as error:
        print(error)
