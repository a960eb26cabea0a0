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
    package=$("$PYTHON" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
    sudo=$([ "$(id -u)" = 0 ] || echo sudo)
    if command -v apt-get >/dev/null && command -v ${sudo:-sh} >/dev/null; then
        echo "installing $package, which Debian and Ubuntu ship apart from Python"
        $sudo apt-get update -qq && $sudo apt-get install -y -qq "$package" >/dev/null || true
    fi
    make_venv || {
        rm -rf "$VENV"
        echo "Python's venv module is missing. As root: apt-get install $package" >&2
        exit 1
    }
fi

gpu=$([ -e /proc/driver/nvidia/version ] && echo ,gpu || true)
quiet=$([ -t 1 ] || echo --quiet)
echo "installing packages into $VENV: minutes and gigabytes the first time"
"$VENV/bin/pip" install $quiet --disable-pip-version-check "$TORCH"
"$VENV/bin/pip" install --quiet --disable-pip-version-check -e ".[app,workers,dev$gpu]"
