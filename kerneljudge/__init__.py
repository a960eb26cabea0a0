"""The client: submit kernels to a judge and read what it says, from Python or the command line."""
