package upstream

import (
	"os"
	"strconv"
	"strings"
)

// inherited names the variables of our environment that a server gets: what
// programs and package runners need to start, and nothing that may be a secret.
const inherited = " PATH HOME USER LOGNAME SHELL LANG LANGUAGE TERM TZ TMPDIR TMP TEMP DISPLAY WAYLAND_DISPLAY" +
	" HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE" +
	" NPM_CONFIG_CACHE NPM_CONFIG_PREFIX NPM_CONFIG_REGISTRY NPM_CONFIG_USERCONFIG NVM_DIR VOLTA_HOME PNPM_HOME BUN_INSTALL" +
	" UV_CACHE_DIR UV_TOOL_DIR UV_PYTHON_INSTALL_DIR PIPX_HOME PYTHONIOENCODING GOPATH GOCACHE CARGO_HOME DOCKER_HOST" +
	" SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT USERPROFILE USERNAME HOMEDRIVE HOMEPATH APPDATA LOCALAPPDATA" +
	" PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) PROCESSOR_ARCHITECTURE NUMBER_OF_PROCESSORS OS "

// environment returns the environment of a server: the safe part of ours, and added.
func environment(added map[string]string) []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if _, ok := added[name]; !ok && passes(strings.ToUpper(name)) {
			env = append(env, kv)
		}
	}
	for name, value := range added {
		env = append(env, name+"="+value)
	}
	return append(env, depthVariable+"="+strconv.Itoa(ownDepth()+1))
}

func passes(name string) bool {
	return strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "XDG_") ||
		name != "" && strings.Contains(inherited, " "+name+" ")
}
