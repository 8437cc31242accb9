#!/bin/sh
# Installs the peers of the hop benchmark into the cache folder of the live
# tests: those of npm.txt as internal/live/install.sh does, and each line of
# pypi.txt, with what it needs in addition, into a folder of its own,
# CACHE/pypi-NAME-VERSION. A peer that cannot be installed is left out and
# reported. Prints CACHE.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cache=$("$here/../../live/install.sh" "$here/npm.txt")

while read -r name version needs; do
	final=$cache/pypi-$name-$version
	[ -d "$final" ] && continue
	echo "install $name==$version" >&2
	# The scripts of a virtual environment do not survive the move: it is used as
	# "bin/python -m NAME".
	# shellcheck disable=SC2086 # needs are several words
	if python3 -m venv "$final.new" >&2 && "$final.new/bin/python" -m pip install --quiet --disable-pip-version-check "$name==$version" $needs >&2; then
		mv "$final.new" "$final"
	else
		echo "install $name==$version: pip failed; the benchmark goes on without it" >&2
		rm -rf "$final.new"
	fi
done <"$here/pypi.txt"
echo "$cache"
