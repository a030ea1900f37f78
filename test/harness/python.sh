# Sourced by ./check and ./quickstart: finds python3, installs it when the machine has none.
PYTHON3=/usr/bin/python3
[ -x $PYTHON3 ] || PYTHON3=$(command -v python3 || true)
if [ -z "$PYTHON3" ]; then
	echo "installing python3"
	run=
	[ "$(id -u)" = 0 ] || run="sudo -n"
	if ! { $run apt-get update && DEBIAN_FRONTEND=noninteractive $run apt-get install -y --no-install-recommends python3; } >/dev/null 2>&1 </dev/null; then
		echo "python3 is missing and could not be installed; as root: apt-get update && apt-get install python3" >&2
		exit 1
	fi
	PYTHON3=/usr/bin/python3
fi
PYTHONPATH="$PWD/test"
PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE
umask 022
