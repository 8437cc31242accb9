package checks

import (
	"fmt"
	"net"
	"net/netip"
	"os"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/connect"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/doctor"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/access/owner"
)

const doctorHelp = `Connect to the servers and examine the whole setup: the configuration file, each
server, what each client and model gets of each tool, what the definitions cost,
tools that wait for an approval, and who can call what toolpost serves. Each
finding has a fix.

A server that a running serve of the same configuration has ready is examined as
it is there. The others are started, and with --fresh all.

Without --for, doctor examines the same clients and models as lint does.

Exit codes: 0 if there is no error, 1 if there is one (with --strict, or a
warning), 2 if the command line is wrong or there is nothing to examine.
` + connect.TargetHelp

// doctorOptions are the flags of doctor.
type doctorOptions struct {
	lintOptions // for the target and the clients
	addr        string
	asJSON      bool
	strict      bool
	all         bool
}

// Doctor returns the command "doctor".
func Doctor() *cobra.Command { return doctorCommand(&doctorOptions{}) }

func doctorCommand(o *doctorOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor [ADDRESS] [-- COMMAND…]",
		Short: "Examine the whole setup, with a fix for each finding",
		Long:  doctorHelp,
		Example: `  toolpost doctor
  toolpost doctor --for claude-code,cursor --all
  toolpost doctor --json -- npx -y @modelcontextprotocol/server-everything`,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := o.examine(cmd, args)
			if err != nil {
				return err
			}
			if o.asJSON {
				err = cli.WriteJSON(cmd.OutOrStdout(), r)
			} else {
				err = r.WriteText(cmd.OutOrStdout(), o.all)
			}
			if err == nil {
				err = failure(r.Findings, o.strict)
			}
			return err
		},
	}
	o.AddSharedFlags(cmd)
	addTargetFlags(cmd, &o.targets, &o.server)
	completeTargets(cmd, "all\tevery target")
	f := cmd.Flags()
	f.StringVar(&o.addr, "addr", owner.DefaultAddress, "examine access for a serve on `HOST:PORT`")
	f.BoolVar(&o.all, "all", false, "show each tool for each client, notes and repetitions")
	f.BoolVar(&o.asJSON, "json", false, "write everything as JSON")
	f.BoolVar(&o.strict, "strict", false, "exit with 1 for warnings too")
	return cmd
}

// examine makes the report.
func (o *doctorOptions) examine(cmd *cobra.Command, args []string) (*doctor.Report, error) {
	cfg, rest, err := o.Split(args, cmd.ArgsLenAtDash())
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		return nil, cli.Usagef("%q is not an address; give http://… or https://…, a command after --, or --config FILE", rest[0])
	}
	if cfg != nil {
		r := newReport("")
		return r, o.examineServers(cmd, r, cfg, nil)
	}
	file, err := o.file()
	if err != nil {
		return nil, err
	}
	r := newReport(file)
	if file != "" {
		usable, err := examineFile(r, file)
		if err != nil || !usable {
			return r, err
		}
	}
	found, err := cli.FindConfiguration(cmd.Context(), o.Config, cli.NewPrompter(cmd))
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, cli.Usagef(`there is no configuration here; run "toolpost import", or name one with --config`)
	}
	if found.URLs != "" {
		r.Source = "MCP_URLS"
	}
	return r, o.examineServers(cmd, r, found, owner.Pins(found))
}

// newReport returns a report about a source that has what is true of all sources.
func newReport(source string) *doctor.Report {
	r := doctor.NewReport(source)
	found, findings := doctor.Secrets(owner.ExamineVault())
	r.Vault = found
	r.Add(findings...)
	return r
}

// file returns the configuration file that is used, "" if there is none.
func (o *doctorOptions) file() (string, error) {
	switch {
	case o.Config != "":
		return o.Config, nil
	case os.Getenv("MCP_URLS") != "":
		return "", nil
	}
	file, _, err := owner.DefaultFile()
	return file, err
}

// examineFile examines a configuration file. It reports whether the file can be used.
func examineFile(r *doctor.Report, file string) (usable bool, err error) {
	data, err := config.Read(file)
	if err != nil {
		return false, cli.WrapUsage(err)
	}
	cfg, findings := doctor.Configuration(file, data)
	r.Add(findings...)
	return cfg != nil, nil
}

// withFix returns a finding whose fix fits a server that the command line names.
func (o *doctorOptions) withFix(f doctor.Finding) doctor.Finding {
	if f.ID == "server-failed" && o.Address != "" {
		f.Fix = "check the address, and whether the server runs"
	}
	return f
}

// examineServers connects to servers and examines them and their tools.
func (o *doctorOptions) examineServers(cmd *cobra.Command, r *doctor.Report, found *config.Config, pinned *gateway.Pins) error {
	s, err := o.OpenServers(cmd, found, pinned)
	if err != nil {
		return err
	}
	defer s.Close()
	servers, findings := doctor.Servers(s.Status)
	r.Servers, r.Serve, r.Started = append(r.Servers, servers...), s.Serve, s.Started
	fromFile := map[string]bool{}
	for i := range found.Servers {
		fromFile[found.Servers[i].Name] = found.File != "" && found.Servers[i].Err != nil
	}
	for _, f := range findings {
		if !fromFile[f.Server] { // otherwise the finding about the file says it
			r.Add(o.withFix(f))
		}
	}
	r.Add(duplicates(found)...)
	snapshot := &gateway.Snapshot{Findings: s.Findings, Withheld: s.Withheld}
	r.Add(doctor.Gateway(snapshot, found.File, func(server string) string { return owner.Command(found, "approve", server) })...)
	tools, _ := s.Set.Tools(cmd.Context()) // a Set never fails
	r.Add(doctor.Definitions(tools, s.Set.Features())...)
	src, err := listSource(cmd.Context(), s, r.Source, found)
	if err != nil {
		return err
	}
	r.Source = src.Title
	targets, _, err := o.chooseTargets(src)
	if err != nil {
		return err
	}
	server := o.server
	if found.Name != "" && !cmd.Flags().Changed("server") {
		server = found.Name
	}
	matrix, findings := doctor.Catalogue(src, targets, server)
	r.SetMatrix(matrix)
	r.Add(findings...)
	home, _ := os.UserHomeDir() // without one, there are no settings
	deferral, findings := matrix.ClaudeCode(doctor.ClaudeEnvironment(home, os.Getenv))
	r.ClaudeCode = deferral
	r.Add(findings...)
	if found.File != "" || found.URLs != "" {
		access, findings := examineAccess(o.addr, found)
		r.Access = access
		r.Add(findings...)
	}
	return nil
}

// examineAccess describes who could call the tools if serve listened on addr.
func examineAccess(addr string, cfg *config.Config) (access string, findings []doctor.Finding) {
	token, err := owner.GivenToken("")
	if err == nil && token == "" {
		if file, missing := owner.TokenFile(); missing == nil {
			if _, gone := os.Lstat(file); gone == nil {
				token, err = owner.ReadToken(file)
			}
		}
	}
	if err != nil {
		findings = append(findings, doctor.Finding{ID: "token-invalid", Severity: doctor.Error, Message: err.Error(), Fix: "toolpost token --rotate"})
	}
	switch {
	case !onLoopback(addr) && os.Getenv(owner.TokenVariable) == "":
		findings = append(findings, doctor.Finding{ID: "access-open", Severity: doctor.Error,
			Message: fmt.Sprintf("on %s, other machines could call these tools; serve refuses to listen there without a token", addr),
			Fix:     fmt.Sprintf("toolpost serve --addr %s --require-token", addr)})
		access = "refused on " + addr + " without a token"
	case token == "" && owner.Risk(cfg) != "":
		access = fmt.Sprintf("on %s, clients need a token, because they could %s; \"toolpost token\" creates and prints it", addr, owner.Risk(cfg))
	case !onLoopback(addr) || owner.Risk(cfg) != "":
		access = fmt.Sprintf("on %s, clients need a token, and there is one", addr)
	default:
		access = fmt.Sprintf("on %s, every program of this machine, without a token; --require-token asks for one", addr)
	}
	return access, findings
}

// onLoopback reports whether addr is reached from this machine only.
func onLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
