package box

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/internal/fault"
)

// sandboxExec is macOS's own program, by its place: another one on the path is not asked.
const sandboxExec = "/usr/bin/sandbox-exec"

// maxProfile bounds what is said to sandbox-exec: macOS takes no more than 1 MiB of arguments and environment together.
const maxProfile = 512 << 10

// seatbelted is a box under macOS's Seatbelt. It shows places where they are and nowhere else, and hides and keeps what lies in them.
func (m *Machine) seatbelted(ctx context.Context, b Box) (*exec.Cmd, func(), error) {
	if b.Tmp != "" || b.Whole || b.Terminal || b.Nests != "" || b.Hold != nil {
		return nil, nil, fault.New(fault.Conflict, "sandbox", "this box needs bubblewrap, and this machine has only Seatbelt").
			WithNext("use a machine with Linux for it")
	}
	home, err := ownHome()
	if err == nil {
		home, err = filepath.EvalSymlinks(home)
	}
	if err != nil {
		return nil, nil, err
	}
	b.Mounts = append(Write(home), b.Mounts...)
	text := ""
	links, err := b.resolve()
	if err == nil {
		text, err = profile(b, b.hidden(), links)
	}
	if err != nil {
		os.RemoveAll(home) //nolint:errcheck // it is empty
		return nil, nil, err
	}
	cmd := exec.CommandContext(ctx, m.seatbelt, append([]string{"-p", text}, b.Argv...)...)
	cmd.Dir, cmd.Env = b.Dir, homed(b.Env, home)
	left := leaving(cmd, home)
	return cmd, func() {
		left()
		for _, path := range b.absent {
			os.Remove(path) //nolint:errcheck // most were never made
		}
	}, nil
}

// resolve makes the mounts real, because Seatbelt judges real paths alone (/tmp is /private/tmp), and takes out what is not there. links
// are the ways by which the program reaches them.
func (b *Box) resolve() (links []string, err error) {
	var out []Mount
	for _, m := range b.Mounts {
		switch {
		case m.From == "" && !there(m.At), m.From != "" && m.Optional && !there(m.From):
			continue
		case m.From != "" && m.at() != m.From:
			return nil, fault.New(fault.Conflict, "sandbox", "%s cannot be shown at %s: this machine has only Seatbelt", m.From, m.At)
		}
		real, err := filepath.EvalSymlinks(m.at())
		if err != nil {
			return nil, fault.New(fault.Conflict, "sandbox", "%s cannot be shown: %w", m.at(), err)
		}
		if real != m.at() {
			links = append(links, m.at())
		}
		if m.At = real; m.From != "" {
			m.From = real
		}
		out = append(out, m)
	}
	b.Mounts = out
	return links, nil
}

// What a rule speaks of. A hard link would be another name, to which no rule applies, so making one is a right like changing.
const (
	looking  = "file-read-metadata file-test-existence"
	reading  = "file-read* file-test-existence file-map-executable process-exec"
	changing = "file-write* file-link"
	moving   = "file-write-unlink file-link" // also away: a rename unlinks
)

// profile is what Seatbelt is told of a box whose mounts are real places, with what is hidden in them and the links that lead to them.
// The last rule that speaks of a thing decides, as the mount that lies on top does.
func profile(b Box, hidden, links []string) (string, error) {
	p := &rules{}
	p.add("(version 1)", "(deny default)",
		"(allow process-fork)", "(allow signal (target same-sandbox))", "(allow process-info* (target same-sandbox))",
		`(allow sysctl-read)`, `(deny sysctl-read (sysctl-name-regex #"^kern\.proc"))`, // arguments of other programs
		"(allow ipc-posix-sem)", `(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))`)
	if b.Network {
		p.add("(allow system-socket)", "(allow network-outbound (remote ip))", "(allow network-inbound (local ip))",
			"(allow network-bind (local ip))",
			`(allow network-outbound (literal "/private/var/run/mDNSResponder"))`, // where names are asked for
			`(allow mach-lookup (global-name "com.apple.SystemConfiguration.configd") `+
				`(global-name "com.apple.SystemConfiguration.DNSConfiguration") (global-name "com.apple.trustd.agent"))`)
	}
	for _, path := range macSystem {
		p.rule("allow", reading, "subpath", path)
	}
	for _, path := range macDevices {
		p.rule("allow", "file-read* file-write-data file-ioctl", "subpath", path)
	}
	p.rule("allow", "file-read* file-test-existence", "literal", "/")
	for _, path := range macLinks {
		p.rule("allow", looking, "literal", path)
	}
	for _, m := range b.Mounts {
		switch {
		case m.From == "":
			p.rule("deny", reading+" "+changing, "subpath", m.at())
		case m.Write:
			p.rule("allow", reading+" "+changing, "subpath", m.at())
		default:
			p.rule("allow", reading, "subpath", m.at())
			p.rule("deny", changing, "subpath", m.at())
		}
	}
	for _, path := range above(b.shown(links)) { // the way there, and not what else is on it
		p.rule("allow", looking, "literal", path)
	}
	for _, path := range links {
		p.rule("allow", looking, "literal", path)
	}
	for _, path := range hidden {
		p.rule("deny", reading+" "+changing, "subpath", path)
	}
	// A rule is about a path: what it keeps, and every folder on the way, stays where it is.
	for _, path := range above(append(b.shown(nil), hidden...)) {
		p.rule("deny", moving, "literal", path)
	}
	for _, m := range b.Mounts {
		p.rule("deny", moving, "literal", m.at())
	}
	if p.err == nil && p.text.Len() > maxProfile {
		p.err = fault.New(fault.Exhausted, "sandbox",
			"there is more to hide and to keep here than this machine's sandbox (Seatbelt) can be told").
			WithNext("grant the folder that the work needs instead")
	}
	return p.text.String(), p.err
}

// shown are the places that a box shows, and these.
func (b Box) shown(more []string) []string {
	out := slices.Clone(more)
	for _, m := range b.Mounts {
		if m.From != "" {
			out = append(out, m.at())
		}
	}
	return out
}

// above are all folders above some places, sorted.
func above(places []string) []string {
	found := map[string]bool{}
	for _, path := range places {
		for up := filepath.Dir(path); !found[up]; up = filepath.Dir(up) {
			found[up] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// rules are a profile that is being written.
type rules struct {
	text strings.Builder
	err  error
}

func (p *rules) add(lines ...string) {
	for _, l := range lines {
		p.text.WriteString(l + "\n")
	}
}

// rule says something of a path. One that could end the string it stands in is not said at all.
func (p *rules) rule(verb, what, how, path string) {
	if !filepath.IsAbs(path) || !utf8.ValidString(path) || strings.ContainsFunc(path, unicode.IsControl) {
		p.err = fault.New(fault.Conflict, "sandbox", "%.200q cannot be named to this machine's sandbox (Seatbelt), so no command runs there",
			path).
			WithNext("rename it, or grant the folder that the work needs instead")
		return
	}
	fmt.Fprintf(&p.text, "(%s %s (%s \"%s\"))\n", verb, what, how, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path))
}

// What every box sees of macOS: programs, libraries and what they need to start, of /Library and /private/etc nothing that holds keys.
var (
	macSystem = []string{"/usr", "/bin", "/sbin", "/System/Library", "/System/Cryptexes", "/System/Volumes/Preboot/Cryptexes",
		"/Library/Apple", "/Library/Developer/CommandLineTools", "/Library/Frameworks", "/private/var/db/timezone", "/private/var/db/dyld",
		"/private/var/select", "/private/etc/ssl", "/private/etc/hosts", "/private/etc/passwd", "/private/etc/group", "/private/etc/localtime",
		"/private/etc/resolv.conf", "/private/etc/protocols", "/private/etc/services", "/private/etc/paths", "/private/etc/paths.d",
		"/private/etc/shells"}
	macDevices = []string{"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/fd", "/dev/dtracehelper", "/dev/autofs_nowait"}
	macLinks   = []string{"/etc", "/var", "/tmp", "/private", "/private/etc", "/private/var", "/private/var/db", "/Library", "/System",
		"/System/Volumes", "/dev", "/Library/Developer"}
)
