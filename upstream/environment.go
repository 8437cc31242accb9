package upstream

import (
	"strconv"
	"strings"

	"github.com/toolpost/toolpost/internal/environ"
)

// inherited are the variables of our environment that a server gets.
const inherited = environ.Common + `TERM DISPLAY WAYLAND_DISPLAY XDG_*
NPM_CONFIG_CACHE NPM_CONFIG_PREFIX NPM_CONFIG_REGISTRY NPM_CONFIG_USERCONFIG
UV_TOOL_DIR UV_PYTHON_INSTALL_DIR PIPX_HOME DOCKER_HOST`

// environment returns the environment of a server: the safe part of ours, and added.
func environment(added map[string]string) []string {
	names := strings.Fields(inherited)
	env := environ.Select(func(name, _ string) bool {
		_, ok := added[name]
		return !ok && environ.Matches(names, strings.ToUpper(name))
	})
	for name, value := range added {
		env = append(env, name+"="+value)
	}
	return append(env, depthVariable+"="+strconv.Itoa(ownDepth()+1))
}
