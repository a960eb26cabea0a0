"""Z39, Z69: NUL, escape sequences, markup and no UTF-8. Must be: checked."""

import os

# + honest softmax

os.write(1, b"\0\x1b[2J\x1b]0;owned\x07\xff\xfe\x80 <script>alert(1)</script>\r\n" * 50)
print("\ud800\N{RIGHT-TO-LEFT OVERRIDE}\N{ZERO WIDTH SPACE}" + "long line " * 50_000)
