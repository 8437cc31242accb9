#!/bin/sh
# Installs what the live tests talk to: each line of peers.txt from npm into a
# folder CACHE/NAME-VERSION of its own, and each line of pypi.txt, with what it
# needs in addition, into CACHE/pypi-NAME-VERSION. Other files can be given. A
# folder that exists is complete: it is made elsewhere and renamed, so that runs
# at the same time do not disturb each other. What is optional may fail, and so
# may Python: its tests are skipped. Prints CACHE, which is TOOLPOST_LIVE_CACHE,
# else toolpost-live in the user's cache folder, else .live in the checkout.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
peers=${1:-$here/peers.txt}
pypi=${2:-$here/pypi.txt}
cache=${TOOLPOST_LIVE_CACHE:-${XDG_CACHE_HOME:-${HOME:-}/.cache}/toolpost-live}
mkdir -p "$cache" 2>/dev/null || cache=$here/../../.live && mkdir -p "$cache"
cache=$(cd "$cache" && pwd)

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
		[ "${3:-}" = optional ] && return
		exit 1
	fi
	[ -d "$final" ] || mv "$new" "$final"
	rm -rf "$new"
}

# The scripts of a virtual environment do not survive that it is renamed: it is
# used as "bin/python …".
environment() { # NAME VERSION NEED…
	name=$1 version=$2
	shift 2
	final=$cache/pypi-$name-$version
	[ -d "$final" ] && return
	echo "install $name==$version" >&2
	new=$(mktemp -d "$cache/.new-XXXXXX")
	if python3 -m venv "$new" >&2 && "$new/bin/python" -m pip install --quiet --disable-pip-version-check "$name==$version" "$@" </dev/null >&2; then
		[ -d "$final" ] || mv "$new" "$final"
	else
		echo "install $name==$version: python3 -m venv or pip failed; what needs it is left out" >&2
	fi
	rm -rf "$new"
}

# The Java SDK and what it needs, from Maven Central. mvn and a JDK come from apt
# where that is allowed.
java_sdk() { # VERSION
	final=$cache/java-mcp-$1
	[ -d "$final" ] && return
	if ! command -v mvn >/dev/null && [ -n "${CI:-}${TOOLPOST_LIVE_INSTALL:-}" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
		{ apt-get install -y maven default-jdk-headless || { apt-get update && apt-get install -y maven default-jdk-headless; }; } </dev/null >&2 || true
	fi
	if ! command -v mvn >/dev/null; then
		echo "install the Java SDK $1: mvn is not installed; its test is skipped. TOOLPOST_LIVE_INSTALL=1 installs it with apt" >&2
		return
	fi
	echo "install the Java SDK $1" >&2
	new=$(mktemp -d "$cache/.new-XXXXXX")
	cat >"$new/pom.xml" <<-POM
		<project><modelVersion>4.0.0</modelVersion><groupId>live</groupId><artifactId>live</artifactId><version>1</version><dependencies>
		<dependency><groupId>io.modelcontextprotocol.sdk</groupId><artifactId>mcp</artifactId><version>$1</version></dependency>
		</dependencies></project>
	POM
	if (cd "$new" && mvn -q -B dependency:copy-dependencies -DoutputDirectory=. </dev/null >&2); then
		[ -d "$final" ] || mv "$new" "$final"
	else
		echo "install the Java SDK $1: mvn failed; its test is skipped" >&2
	fi
	rm -rf "$new"
}

# Wine runs tests for Windows; it comes from apt where that is allowed.
wine_from_apt() { timeout 600 apt-get install -y --no-install-recommends wine wine64; }
install_wine() {
	if command -v wine >/dev/null; then return; fi
	if [ -n "${CI:-}${TOOLPOST_LIVE_INSTALL:-}" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
		{ wine_from_apt || { apt-get update && wine_from_apt; }; } </dev/null >&2 || true
	fi
	command -v wine >/dev/null || echo "wine is not installed; tests for Windows are skipped. TOOLPOST_LIVE_INSTALL=1 installs it with apt" >&2
}

# nginx and Caddy run in front of serve. Their packages are unpacked, not installed: nothing of
# them starts by itself.
proxies() {
	[ -d "$cache/proxies" ] && return
	new=$(mktemp -d "$cache/.new-XXXXXX")
	if command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null && (cd "$new" &&
		{ apt-get download nginx caddy || { apt-get update && apt-get download nginx caddy; }; } </dev/null >&2 &&
		for package in *.deb; do dpkg-deb -x "$package" . || exit 1; done && rm ./*.deb); then
		[ -d "$cache/proxies" ] || mv "$new" "$cache/proxies"
	else
		echo "nginx and Caddy cannot be taken from apt; their tests are skipped" >&2
	fi
	rm -rf "$new"
}

# A worker installs every WORKERS-th line of a list. Most of the time of an
# installation is a wait for the network.
workers=4
worker() { # COMMAND LIST NUMBER
	trap 'rm -rf "${new:-}"' EXIT
	line=0 new=
	while read -r name version needs; do
		line=$((line + 1))
		# shellcheck disable=SC2086 # needs are several words
		[ $((line % workers)) != "$3" ] || "$1" "$name" "$version" $needs
	done <"$2"
}

# What may come from apt is installed one after the other: apt locks its files.
system() { # [wine]
	trap 'rm -rf "${new:-}"' EXIT
	java_sdk 0.17.0
	proxies
	if [ "${1:-}" = wine ]; then install_wine; fi
}

pids=
start() { "$@" & pids="$pids $!"; }
if [ $# = 0 ]; then start system wine; else start system; fi
number=0
while [ $number -lt $workers ]; do
	start worker install "$peers" $number
	start worker environment "$pypi" $number
	number=$((number + 1))
done
failed=0
for pid in $pids; do wait "$pid" || failed=1; done
[ $failed = 0 ] || exit 1
echo "$cache"
