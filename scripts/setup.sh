#!/bin/sh
# Makes the virtual environment of the Makefile: PYTHON, VENV and TORCH are its variables.
set -eu

version=$("$PYTHON" -c 'import sys; print(sys.version_info >= (3, 11))' 2>/dev/null || echo missing)
if [ "$version" != True ]; then
    echo "Python 3.11 or newer is needed; name one with: make PYTHON=/path/to/python3" >&2
    exit 1
fi

make_venv() {
    "$PYTHON" -m venv "$VENV" >/dev/null 2>&1
}

# Debian and Ubuntu ship venv apart from Python.
if ! make_venv; then
    rm -rf "$VENV"
    sudo=$([ "$(id -u)" = 0 ] || echo sudo)
    if command -v apt-get >/dev/null; then
        echo "installing python3-venv, which Debian and Ubuntu ship apart from Python"
        $sudo apt-get update -qq && $sudo apt-get install -y -qq python3-venv >/dev/null
    fi
    make_venv || { echo "cannot make a virtual environment: install python3-venv" >&2; exit 1; }
fi

gpu=$([ -e /proc/driver/nvidia/version ] && echo ,gpu || true)
echo "installing packages into $VENV (torch and triton take a few minutes the first time)"
"$VENV/bin/pip" install --quiet --disable-pip-version-check "$TORCH"
"$VENV/bin/pip" install --quiet --disable-pip-version-check -e ".[workers,dev$gpu]"
