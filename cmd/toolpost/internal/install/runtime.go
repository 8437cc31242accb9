package install

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/lazyregexp"
)

// The arguments that a description may give to the program that runs its package.
// Others can fetch another package, run code or open the machine to a container.
var (
	npxArgument    = lazyregexp.New(`^(-y|--yes|-q|--quiet|--offline|--prefer-(offline|online))$`)
	uvxArgument    = lazyregexp.New(`^(-q|--quiet|--offline|--refresh|--isolated|--python=[0-9.]+)$`)
	dockerArgument = lazyregexp.New(`^(run|-i|--interactive|--rm|--init|--read-only|--pull=(always|missing|never)|--network=none|(-e|--env)[ =][A-Za-z_][A-Za-z0-9_]*=.*)$`)
	dnxArgument    = lazyregexp.New(`^(-y|--yes|--prerelease)$`)
)

// checkRuntime refuses arguments of a description that are not harmless.
func (p *registryPackage) checkRuntime(words []string) error {
	form := map[string]*lazyregexp.Regexp{npm: npxArgument, pypi: uvxArgument, oci: dockerArgument, nuget: dnxArgument}[p.RegistryType]
	valued := []string{"-e", "--env", "--pull", "--network", "--python"} // the value may be the next word
	for len(words) > 0 {
		word, n := words[0], 1
		if slices.Contains(valued, word) && len(words) > 1 {
			separator := "="
			if word == "-e" {
				separator = " "
			}
			word, n = word+separator+words[1], 2
		}
		last := len(words) == n && p.RegistryType == oci && word == p.Identifier
		if !last && (form == nil || !form.MatchString(word)) {
			return fmt.Errorf("its argument %q for the program that runs the package can run other code or open files of this machine to it; if you want it, add --allow-runtime", word)
		}
		words = words[n:]
	}
	return nil
}

// steering matches variables that make programs fetch or run something else.
var steering = lazyregexp.New(`(?i)^((npm_config|yarn|uv|pip|pipx|python|node|docker|podman|containers?|buildah|nuget|dotnet|ld|dyld|git|ssl|bash)_.*|path|home|bash_env|env|shell|ifs|(python|node)path|pythonhome|pythonstartup|node_options|.*_proxy|xdg_.*|appdata|userprofile|comspec|pathext)$`)

var environmentName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

// checkEnvironment refuses variables whose values the description chooses and which
// make the program that runs the package do something else.
func (p *registryPackage) checkEnvironment() error {
	for _, v := range p.EnvironmentVariables {
		if !environmentName.MatchString(v.Name) {
			return fmt.Errorf("%q cannot be the name of an environment variable", strings.ToValidUTF8(v.Name, "?"))
		}
		if (v.Value != nil || v.Default != nil) && steering.MatchString(v.Name) {
			return fmt.Errorf("it sets the environment variable %s, which can make %w; if you want it, add --allow-runtime", v.Name, errSteering)
		}
	}
	return nil
}

var errSteering = errors.New("the program that runs the package fetch or run something else")
