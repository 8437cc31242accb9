#!/bin/sh
# Installs the peers of the hop benchmark, those of npm.txt and pypi.txt, as
# dev/live/install.sh does. A peer that cannot be installed is left out and
# reported. Prints the folder.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
exec "$here/../../live/install.sh" "$here/npm.txt" "$here/pypi.txt"
