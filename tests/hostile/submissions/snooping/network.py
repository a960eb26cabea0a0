"""115, 116, Z82-86: sockets of every kind. Must be: checked."""

import socket

# + honest softmax

for family in range(45):
    for kind in (1, 2, 3, 4, 5, 10):
        try:
            socket.socket(family, kind).close()
        except OSError:
            continue
        print("LEAKED socket", family, kind)
try:
    socket.getaddrinfo("example.org", 80)
    print("LEAKED a name service")
except OSError as error:
    print(error)
left, right = socket.socketpair()
for target in ("\0abstract", "/run/redis.sock"):
    try:
        left.connect(target)
        print("LEAKED", target)
    except OSError as error:
        print(error)
