#!/bin/sh
# Installs what the live tests talk to: each line of peers.txt, or of the file
# that is given, into a folder CACHE/NAME-VERSION of its own. A folder that
# exists is complete: it is made elsewhere and renamed, so that runs at the same
# time do not disturb each other. What is optional may fail: its tests are
# skipped. Prints CACHE, which is TOOLPOST_LIVE_CACHE, else toolpost-live in the
# user's cache folder, else .live in the checkout.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
peers=${1:-$here/peers.txt}
cache=${TOOLPOST_LIVE_CACHE:-${XDG_CACHE_HOME:-${HOME:-}/.cache}/toolpost-live}
mkdir -p "$cache" 2>/dev/null || cache=$here/../../.live && mkdir -p "$cache"
cache=$(cd "$cache" && pwd)

trap 'rm -rf "${new:-}"' EXIT

# npm fetches the node binary in a script of its package; no other package
# may run code while it is installed. The agents need none: their binaries are
# in packages of their own, one for each platform.
scripts() { [ "$1" = node ] && echo --foreground-scripts || echo --ignore-scripts; }

install() { # NAME VERSION [optional]
	final=$cache/$(basename "$1")-$2
	[ -d "$final" ] && return
	echo "install $1@$2" >&2
	new=$(mktemp -d "$cache/.new-XXXXXX")
	echo '{"private":true}' >"$new/package.json"
	if ! (cd "$new" && npm install --no-audit --no-fund --no-update-notifier --loglevel=error \
		--save-exact "$(scripts "$1")" "$1@$2" </dev/null >&2); then
		echo "install $1@$2: npm failed; check that npm reaches its registry and run again" >&2
		rm -rf "$new"
		[ "$3" = optional ] && return
		exit 1
	fi
	[ -d "$final" ] || mv "$new" "$final"
	rm -rf "$new"
}

while read -r name version need; do install "$name" "$version" "$need"; done <"$peers"
echo "$cache"
