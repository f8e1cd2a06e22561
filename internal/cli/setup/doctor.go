package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"tandem/internal/server/wire"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/client"
	"tandem/internal/daemon"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
	secret "tandem/internal/secret/wire"
	"tandem/internal/server/health"
	"tandem/internal/session/terminal"
	"tandem/internal/settings"
)

// Check is one finding.
type Check struct {
	Name   string `json:"name"`
	State  string `json:"state"` // ok, note or bad
	Detail string `json:"detail"`
	Mend   string `json:"mend,omitempty"`
}

func newDoctor(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check the installation and say how to mend it",
		Long: "Check the data folder, the daemon, its settings and the programs that parts of tandem use. " +
			"The exit code is 1 when something is bad; what is only missing is a note.",
		Example: "  tandem doctor\n  tandem doctor --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			checks := examine(cmd.Context(), k)
			bad := 0
			for _, c := range checks {
				if c.State == "bad" {
					bad++
				}
			}
			if err := k.Show(map[string]any{"ok": bad == 0, "checks": checks}, func(w io.Writer) {
				for _, c := range checks {
					kit.Paint(w, tints[c.State], fmt.Sprintf("%-5s", c.State))
					fmt.Fprintf(w, " %s: %s\n", c.Name, c.Detail)
					if c.Mend != "" {
						fmt.Fprintf(w, "      %s\n", c.Mend)
					}
				}
			}); err != nil {
				return err
			}
			if bad > 0 {
				return kit.Silent{Code: 1}
			}
			return nil
		},
	}
}

// tints are the colours of states, of checks and of steps.
var tints = map[string]kit.Colour{"ok": kit.Green, "note": kit.Yellow, "bad": kit.Red, "done": kit.Green, "already": kit.Green,
	"left": kit.Yellow}

func examine(ctx context.Context, k *kit.Kit) []Check {
	s, err := k.Settings()
	if err != nil {
		return []Check{broken("settings", err)}
	}
	checks := []Check{{"settings", "ok", "config.toml and .env can be read", ""}, checkFolder(s)}
	if waits := checkRestore(s); waits != nil { // the parts that are there are replaced
		checks = append(checks, *waits, checkDisk(s))
	} else {
		checks = append(checks, checkParts(s), checkDisk(s))
	}
	v, how := checkDaemon(ctx, k)
	checks = append(append(checks, how...), checkLog(s))
	if v.unasked != "" {
		for _, name := range []string{"ready", "sandbox", "secrets", "terminals"} {
			checks = append(checks, Check{name, "note", "not checked: " + v.unasked, ""})
		}
	} else {
		checks = append(checks, checkFindings(ctx, v, checks)...)
		checks = append(checks, checkSandbox(v), checkSecrets(ctx, v), checkTerminals(ctx, v))
	}
	for _, p := range []struct{ program, why, debian string }{
		{"git", "repositories", "git"},
		{"tmux", "sessions with real agent programs", "tmux"},
		{"bwrap", "confining agents and their commands", "bubblewrap"},
	} {
		checks = append(checks, checkProgram(p.program, p.why, p.debian))
	}
	return checks
}

func broken(name string, err error) Check {
	c := Check{name, "bad", err.Error(), ""}
	var f *fault.Error
	if errors.As(err, &f) {
		c.Mend = f.Next
	}
	return c
}

func checkFolder(s *settings.Settings) Check {
	data := s.Data()
	if _, err := os.Stat(data); errors.Is(err, os.ErrNotExist) {
		return Check{"data folder", "note", data + " does not exist yet", "it is made at the first start: tandem up"}
	}
	if err := daemon.CheckFolder(data); err != nil {
		return broken("data folder", err)
	}
	probe, err := os.CreateTemp(data, ".doctor-*")
	if err != nil {
		return Check{"data folder", "bad", "cannot be written: " + err.Error(), "check its owner, and that its disk has space and is writable"}
	}
	_, err = probe.Write(make([]byte, 64<<10)) // an empty file fits on a full disk
	probe.Close()
	os.Remove(probe.Name())
	if err != nil {
		return Check{"data folder", "bad", "cannot be written: " + err.Error(), "free some space (df -h " + data + ")"}
	}
	return Check{"data folder", "ok", data, ""}
}

// checkParts says which installation the folder is of, and which of its keys are missing. It needs no daemon.
func checkParts(s *settings.Settings) Check {
	id, where, missing, err := daemon.Parts(s.Data())
	switch {
	case err != nil:
		return broken("installation", err)
	case id == "":
		return Check{"installation", "note", "none yet", ""}
	case missing != nil:
		return broken("installation", missing)
	}
	return Check{"installation", "ok", id + ", its data is in " + where, ""}
}

// checkRestore tells of a copy that waits for the next start.
func checkRestore(s *settings.Settings) *Check {
	made, path := daemon.PendingRestore(s.Data())
	if path == "" {
		return nil
	}
	return &Check{"restore", "note", "the next start replaces everything here by the copy of " + made.Local().Format(time.DateTime),
		fmt.Sprintf("take it up: tandem up; or give the restore up, to keep what is here: rm %s", path)}
}

// lastFailed is why the last start failed, unless a copy was put there since, for the next one.
func lastFailed(data string) *fault.Error {
	f := kit.LastFailure(data)
	_, path := daemon.PendingRestore(data)
	if f == nil || path == "" {
		return f
	}
	said, err := os.Stat(kit.StartLog(data))
	waits, errWaits := os.Stat(path)
	if err == nil && errWaits == nil && waits.ModTime().After(said.ModTime()) {
		return nil
	}
	return f
}

// checkDisk says whether there is room to go on.
func checkDisk(s *settings.Settings) Check {
	if err := health.Room(s.Data()); err != nil {
		return broken("disk", err)
	}
	return Check{"disk", "ok", "there is room", ""}
}

// examined is the server that is looked at. Where it cannot be asked, unasked says why, and no check asks it again.
type examined struct {
	c       *client.Client
	st      wire.Status
	unasked string
}

// checkDaemon says how the server is, in one line; what is wrong with its database, or where it listens, is a line of its own.
func checkDaemon(ctx context.Context, k *kit.Kit) (examined, []Check) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	c, away, err := k.Answering(ctx)
	if f := lastFailed(k.Data()); client.Absent(err) && f != nil {
		return examined{unasked: "the daemon is not running"}, []Check{{"daemon", "bad", "not running; the last start failed: " + f.Msg, f.Next}}
	}
	if client.Absent(err) {
		return examined{unasked: "the daemon is not running"}, []Check{{"daemon", "note", "not running", "start it: tandem up"}}
	}
	var st wire.Status
	if err == nil {
		st, err = op.Do(ctx, c, wire.ServerStatus, identity.Nothing{})
	}
	for i := 0; i < 10 && c != nil && away == nil && fault.Is(err, fault.Unavailable); i++ { // it looks again every two seconds
		time.Sleep(500 * time.Millisecond)
		away = c.Unready(ctx)
	}
	if err != nil && away != nil && away.Data[client.Part+"database"] != "" {
		return examined{unasked: "the database is away"}, []Check{
			{"daemon", "note", fmt.Sprintf("running, PID %d; it goes on by itself when its database is there again", daemon.Holder(k.Data())), ""},
			{"database", "bad", away.Data[client.Part+"database"],
				"check that it runs, and the network to it"}}
	}
	if err != nil {
		return examined{unasked: "the daemon does not answer"}, []Check{broken("daemon", err)}
	}
	detail := fmt.Sprintf("running, PID %d, %s on %s, %d events", st.PID, st.Version, st.Database, st.Events)
	check := Check{"daemon", "ok", detail, ""}
	switch {
	case st.Version != k.Version:
		check = Check{"daemon", "bad", fmt.Sprintf("%s; this program is %s", detail, k.Version), "restart it: tandem up --replace"}
	case !st.PIN:
		check = Check{"daemon", "note", detail + "; no PIN is set, so nobody can decide asks", "tandem pin set"}
	}
	return examined{c: c, st: st}, append([]Check{check}, checkListen(&st)...)
}

// checkSandbox says what confines the commands of sessions with models.
func checkSandbox(v examined) Check {
	st := v.st
	mend := "install bubblewrap (apt-get install bubblewrap), then: tandem up --replace"
	if strings.Contains(st.SandboxWhy, "bubblewrap: it does not work here") {
		mend = "bubblewrap is there, and is not let: see \"In a container\" in docs/operate.md; then: tandem up --replace"
	}
	switch st.Sandbox {
	case "bwrap":
		return Check{"sandbox", "ok", "commands of sessions run in bubblewrap", ""}
	case "seatbelt":
		return Check{"sandbox", "note", "commands of sessions run under Seatbelt, by a profile that nobody has tried on a Mac yet", ""}
	case "landlock":
		return Check{"sandbox", "note", "commands of sessions run under Landlock and seccomp; where files may hold keys they ask first, " +
			"because these cannot be hidden, and nothing keeps them from git's hooks and configuration in folders that they " +
			"may change (" + st.SandboxWhy + ")", mend}
	}
	return Check{"sandbox", "note", "there is none, so commands of sessions do not run (" + st.SandboxWhy + ")",
		mend + "; or for one session: tandem grant unconfined SESSION"}
}

// checkSecrets says where the master key of the secrets is: whoever has the
// disk has a key that is a file.
func checkSecrets(ctx context.Context, v examined) Check {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	out, err := op.Do(ctx, v.c, secret.List, struct{}{})
	if err != nil {
		return broken("secrets", err)
	}
	if out.Keeper == "file" {
		return Check{"secrets", "note", fmt.Sprintf("%d sealed; the master key is a file in the data folder, so whoever takes the disk has both",
			len(out.Secrets)),
			"encrypt the disk, or set secret_keeper to keyring and run: tandem secret rotate"}
	}
	return Check{"secrets", "ok", fmt.Sprintf("%d sealed; the master key is in the %s", len(out.Secrets), out.Keeper), ""}
}

// checkTerminals ends what closed sessions left behind, and says so.
func checkTerminals(ctx context.Context, v examined) Check {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	out, err := op.Do(ctx, v.c, terminal.SessionReap, terminal.ReapIn{})
	if err != nil {
		return broken("terminals", err)
	}
	known, err := op.Do(ctx, v.c, terminal.SessionPrograms, terminal.ReapIn{})
	if err != nil {
		return broken("terminals", err)
	}
	for _, p := range known.Programs {
		if len(p.Missing) > 0 {
			return Check{"terminals", "note", p.Verdict, "use a version that works, or check again: tandem session check " + p.Agent}
		}
	}
	if len(out.Ended) > 0 {
		return Check{"terminals", "note", "ended what closed sessions had left behind: " + strings.Join(out.Ended, ", "), ""}
	}
	said := "nothing was left behind by closed sessions"
	for _, p := range known.Programs {
		said += "; " + p.Verdict
	}
	return Check{"terminals", "ok", said, ""}
}

func checkProgram(program, why, debian string) Check {
	path, err := exec.LookPath(program)
	if err == nil {
		return Check{program, "ok", path, ""}
	}
	c := Check{program, "note", "not found; needed for " + why, ""}
	switch runtime.GOOS {
	case "linux":
		c.Mend = "install it: apt-get install " + debian
	case "darwin":
		c.Mend = "install it: brew install " + debian
		if program == "bwrap" {
			c.Detail, c.Mend = "there is none on macOS: agents run unconfined here, and say so; for commands of models: TANDEM_SANDBOX=seatbelt", ""
		}
	default:
		c.Mend = "not available on " + runtime.GOOS
	}
	return c
}

// tilde shortens a path for people.
func tilde(path, home string) string {
	if rest, ok := strings.CutPrefix(path, home+string(filepath.Separator)); ok && home != "" {
		return "~/" + rest
	}
	return path
}
