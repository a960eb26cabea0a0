"""P12, Z70: fills the scratch folder and goes on as if nothing were. Must be: build_error."""

import errno

# + honest softmax

number, room = 0, True
while room:
    with open(f"big{number}", "wb", buffering=0) as file:
        try:
            while True:
                file.write(b"z" * (1 << 20))
        except OSError as error:
            room = error.errno != errno.ENOSPC
    number += 1
