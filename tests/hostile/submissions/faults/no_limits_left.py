"""Z151: sets its own limits to nothing. Must be: build_error."""

import resource

# + honest softmax

for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC):
    resource.setrlimit(kind, (0, 0))
