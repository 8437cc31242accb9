#!/usr/bin/env bash
# up-newer.sh - a real, seeded Redmine 6.0 (Debian trixie packages): up.sh in a folder with a Debian of
# its own, which is made once. REDMINE_DIR must be ROOT/srv/NAME; ROOT is that folder. The rest is as in
# up.sh, but all of it needs root. Ends with 3 if this machine cannot have ROOT. Stop: down.sh.
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
ROOT="${REDMINE_DIR%/srv/*}"
log() { printf '[redmine-up-newer %3ss] %s\n' "$SECONDS" "$*" >&2; }

if [ ! -d "$ROOT" ]; then
  command -v mmdebstrap >/dev/null || [ -n "${CI:-}${TOOLPOST_LIVE_INSTALL:-}" ] || {
    log "mmdebstrap is not installed; set TOOLPOST_LIVE_INSTALL=1 to install it with apt-get"; exit 3; }
  log "making a Debian trixie with Redmine in $ROOT"
  mkdir -p "$(dirname "$ROOT")"; NEW=$(mktemp -d "$ROOT.new-XXXXXX"); trap 'rm -rf --one-file-system "$NEW"' EXIT
  export DEBIAN_FRONTEND=noninteractive
  { command -v mmdebstrap || { apt-get update -qq && apt-get install -y -qq --no-install-recommends mmdebstrap; }
    mmdebstrap --variant=minbase --keyring=/usr/share/keyrings/debian-archive-keyring.gpg \
      --aptopt='Acquire::Languages "none"' --aptopt='Apt::Install-Recommends "false"' \
      --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
      --essential-hook='echo redmine redmine/instances/default/dbconfig-install boolean false | chroot "$1" debconf-set-selections' \
      --include=ca-certificates,curl,dbconfig-no-thanks,puma,redmine,redmine-sqlite trixie "$NEW"
  } >"$NEW.log" 2>&1 || { tail -20 "$NEW.log" >&2; rm -f "$NEW.log"; exit 3; }
  rm -f "$NEW.log"; [ -d "$ROOT" ] || mv -T "$NEW" "$ROOT"
fi
install -m 755 "$HERE/up.sh" "$ROOT/usr/local/bin/redmine-up"
chroot "$ROOT" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin PORT="$PORT" REDMINE_DIR="${REDMINE_DIR#"$ROOT"}" \
  bash /usr/local/bin/redmine-up
