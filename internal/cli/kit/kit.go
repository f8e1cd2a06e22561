// Package kit is what every command is given: the terminal as a value, the
// settings, a client that starts the daemon when it is absent, and one way to
// print, ask and fail.
package kit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/client"
	"tandem/internal/daemon"
	"tandem/internal/fault"
	"tandem/internal/identity"
	login "tandem/internal/login/wire"
	"tandem/internal/op"
	"tandem/internal/settings"
)

// Kit is a command's surroundings.
type Kit struct {
	In       io.Reader
	Out, Err io.Writer
	Env      []string
	Version  string
	JSON     bool              // --json
	NoColour bool              // --no-color
	Flags    map[string]string // settings given on the command line
	EnvFiles []string
	Server   string // --server: a login by its name, or own
	Far      bool   // the command is about a server, and takes the one that --server names or that the person is logged in at

	login  *login.Login    // the server that the command is for, once it was found out; with no name it is this machine's own
	pin    string          // that was typed and found right
	prove  client.Prove    // that the person is here, for the server of a login
	asking context.Context // how long questions on the terminal stand; nil for as long as nobody answers
}

// Settings reads the configuration.
func (k *Kit) Settings() (*settings.Settings, error) {
	return settings.Load(k.Flags, k.Env, k.EnvFiles...)
}

// Data is the data folder; it is known also where what is in it cannot be read.
func (k *Kit) Data() string { return settings.Folder(k.Flags, k.Env) }

// Socket is the path of the control socket.
func (k *Kit) Socket() (string, error) {
	s, err := k.Settings()
	if err != nil {
		return "", err
	}
	return socketOf(s), nil
}

// socketOf is where the daemon of a data folder listens: where it was told to, also
// when this command was not told.
func socketOf(s *settings.Settings) string {
	path := daemon.SocketPath(s.Data(), s.Get("control_socket"))
	if s.Given("control_socket") || client.Listening(path) == nil {
		return path
	}
	if h, ok := daemon.Living(s.Data()); ok && h.Phase == "" {
		return h.Socket
	}
	return path
}

// At is a client of the daemon, whether it runs or not.
func (k *Kit) At(s *settings.Settings) *client.Client {
	return k.at(daemon.SocketPath(s.Data(), s.Get("control_socket")))
}

// at is a client of the daemon behind a socket.
func (k *Kit) at(path string) *client.Client {
	c := client.Socket(path)
	if filepath.Dir(path) != filepath.Clean(k.Data()) { // where others may have put one of theirs
		c = client.Own(path)
	}
	return c.WhenHung(k.Hung)
}

// Hung is what is said of a daemon that does not answer, and of one that says that its database does not.
func (k *Kit) Hung(says *fault.Error) error {
	pid := daemon.Holder(k.Data())
	if says != nil {
		return fault.New(fault.Unavailable, "cli", "tandem runs (PID %d) and waits: the %s does not answer", pid, says.Data[client.Hangs]).
			With(client.Hangs, says.Data[client.Hangs]).
			WithNext("look at the database and at the network to it; what waits goes on by itself when it answers, so what it was told " +
				"may still happen; to end the server as it is: tandem down --force")
	}
	return fault.New(fault.Unavailable, "cli", "the server (PID %d) does not answer", pid).
		WithNext("look at it (ps -o stat,wchan,args -p %d); end it: tandem down --force; then start it: tandem up", pid)
}

// Running is a client of the daemon if one runs, and an error otherwise.
func (k *Kit) Running(ctx context.Context) (*client.Client, error) {
	path, err := k.Socket()
	if err != nil {
		return nil, err
	}
	c := k.at(path)
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	resp, err := c.Do(ctx, "GET", "/global/health", nil, nil)
	if err != nil && errors.Is(err, context.DeadlineExceeded) {
		return nil, k.Hung(nil)
	}
	if err != nil {
		return nil, err
	}
	resp.Body.Close()
	return c, nil
}

// Answering is Running for commands that need the daemon's answer; away says what of its parts is not there, nil when all are.
// One whose database hangs is an error at once, not after a call has waited for it.
func (k *Kit) Answering(ctx context.Context) (c *client.Client, away *fault.Error, err error) {
	if c, err = k.Running(ctx); err != nil {
		return nil, nil, err
	}
	if away = c.Unready(ctx); away != nil && away.Data[client.Hangs] != "" {
		return nil, away, k.Hung(away)
	}
	return c, away, nil
}

// Client is a client of the daemon, which is started when it is absent. With
// TANDEM_AS_TOKEN set it acts with that token and not as this user.
func (k *Kit) Client(ctx context.Context) (*client.Client, error) {
	if path := k.SessionSocket(); path != "" {
		if _, err := k.Login(ctx); err != nil {
			return nil, err
		}
		cwd, _ := os.Getwd()
		return client.Socket(path).WithClient(client.About{Folder: cwd}), nil
	}
	c, err := k.Own(ctx)
	if err != nil {
		return nil, err
	}
	l, err := k.Login(ctx)
	if err != nil || l == nil {
		return c, err
	}
	return c.Through(l.Name), nil
}

// Own is a client of this machine's own daemon, wherever the person is logged in.
func (k *Kit) Own(ctx context.Context) (*client.Client, error) {
	s, err := k.Settings()
	if err != nil {
		return nil, err
	}
	path := socketOf(s)
	c := k.at(path)
	// Whoever listens there is our daemon; its first answer says how it is.
	if err = client.Listening(path); client.Absent(err) {
		c, err = k.startOnDemand(ctx, s)
	}
	if err != nil {
		return nil, err
	}
	if t := s.Get("as_token"); t != "" {
		c = c.WithToken(t)
	}
	if cwd, err := os.Getwd(); err == nil {
		c = c.WithClient(client.About{Folder: cwd})
	}
	return c, nil
}

// SessionSocket is the socket of the session that this command runs in, "" outside of one. A command in a session speaks to
// that socket and to nothing else.
func (k *Kit) SessionSocket() string { return k.variable("TANDEM_SESSION_SOCKET") }

func (k *Kit) startOnDemand(ctx context.Context, s *settings.Settings) (*client.Client, error) {
	if h, ok := daemon.Living(s.Data()); !ok || h.Phase == "" { // else one is on its way
		if err := k.Spawn(s, "serve", "--daemon", "--on-demand"); err != nil {
			return nil, err
		}
	}
	c := k.At(s)
	err := k.Started(ctx, s, c)
	if h, ok := daemon.Living(s.Data()); err != nil && ok {
		err = Holds(s.Data(), h)
	}
	return c, err
}

// Holds is the daemon that has a data folder and does not answer here.
func Holds(data string, h daemon.Holding) error {
	if h.Phase != "" {
		return fault.New(fault.Unavailable, "cli", "tandem is starting (PID %d): %s, for %s", h.PID, h.Phase,
			time.Since(h.Since).Round(time.Second)).
			WithNext("wait until it is there: tandem status")
	}
	return fault.New(fault.Unavailable, "cli", "%s is held by tandem with PID %d, whose control socket is %s", data, h.PID, h.Socket).
		WithNext("name it: --control-socket %s; or stop it: tandem down --control-socket %s", h.Socket, h.Socket)
}

// Gone waits until no daemon holds the data folder.
func (k *Kit) Gone(ctx context.Context, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s, err := k.Settings()
	if err != nil {
		return err
	}
	for {
		if free, err := daemon.Free(s.Data()); err != nil || free {
			return err
		}
		select {
		case <-ctx.Done():
			return fault.New(fault.Unavailable, "cli", "the server (PID %d) did not end within %s", daemon.Holder(s.Data()), patience).
				WithNext("see what it does: tandem logs; make it end: tandem down --force")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func flagName(key string) string {
	return strings.NewReplacer("_", "-", ".", "-").Replace(key)
}

// Call runs an operation. When it needs a person present and there is a
// terminal, it asks for the PIN, beforehand where that is known; a command of
// several calls asks once.
func (k *Kit) Call(ctx context.Context, name string, in, out any) error {
	c, err := k.Client(ctx)
	if err != nil {
		return err
	}
	if l, err := k.Login(ctx); err != nil || l != nil {
		if err == nil {
			err = k.callThrough(ctx, c, l, name, in, out)
		}
		return err
	}
	pin := k.pin
	if pin == "" && client.NeedsPresence(name) && k.ourselves() {
		if pin, err = k.askPIN(ctx, c, name); err != nil {
			return err
		}
	}
	if pin != "" {
		c = c.WithPIN(pin)
	}
	err = c.Call(ctx, name, in, out)
	var f *fault.Error
	if pin == "" && errors.As(err, &f) && f.Data["presence"] == "required" {
		refused := err
		if pin, err = k.askPIN(ctx, c, name); err != nil {
			var none *fault.Error
			if errors.As(err, &none) && none.Data["pin"] == "none" { // why it was refused stays; what to do is another thing
				return f.WithNext("%s", none.Next)
			}
			return err
		}
		if pin == "" {
			return refused
		}
		err = c.WithPIN(pin).Call(ctx, name, in, out)
	}
	if err == nil && pin != "" && k.pin == "" {
		k.pin = pin
		k.offer(ctx, c, name)
	}
	return err
}

// Prove asks for the PIN before a call that needs it for what it is about, which the operation's name does not tell. Where there is no
// terminal, or the command speaks for somebody else, nobody is asked.
func (k *Kit) Prove(ctx context.Context, name string) error {
	if k.pin != "" || !k.ourselves() {
		return nil
	}
	c, err := k.Own(ctx)
	if err != nil {
		return err
	}
	k.pin, err = k.askPIN(ctx, c, name)
	if f := (*fault.Error)(nil); errors.As(err, &f) && f.Data["pin"] == "none" {
		return nil // the server says what is missing
	}
	return err
}

// offer tells a person who was just found to be here what concerns their PIN: that root began to replace it, or that nothing could.
func (k *Kit) offer(ctx context.Context, c *client.Client, name string) {
	if k.JSON || strings.HasPrefix(name, "recovery.") {
		return
	}
	out, err := op.Do(ctx, c, identity.RecoveryShow, identity.Nothing{})
	if err != nil {
		return
	}
	if out.Pending != nil {
		fmt.Fprintln(k.Err, "root of this machine began to replace your PIN; if nobody forgot it, stop it: tandem recover stop")
	}
	if out.Codes == 0 {
		fmt.Fprintln(k.Err, "there are no recovery codes for the day when you forget the PIN; make some: tandem recover codes")
	}
}

// Invoke runs an operation as Call does and answers in JSON: it makes the kit an
// op.Invoker, so that commands say op.Do(ctx, k, wire.Put, in).
func (k *Kit) Invoke(ctx context.Context, name string, in any) (any, error) {
	var out json.RawMessage
	err := k.Call(ctx, name, in, &out)
	return out, err
}

// askPIN asks for the PIN. It is empty where there is no terminal: the server
// says what is missing then. Nobody is asked for a PIN that was never set.
func (k *Kit) askPIN(ctx context.Context, c *client.Client, name string) (string, error) {
	if who, err := op.Do(ctx, c, identity.ActorWhoami, identity.Nothing{}); err == nil && !who.PIN {
		return "", fault.New(fault.Denied, "presence", "%s needs a person who is present, and no PIN has been set to prove it", name).
			With("pin", "none").WithNext("set one on a terminal: tandem pin set; then say it again")
	}
	pin, err := k.Secret(fmt.Sprintf("%s needs your PIN: ", name))
	switch {
	case err != nil && !errors.Is(err, context.Canceled):
		return "", nil
	case err == nil && pin == "":
		return "", fault.New(fault.Denied, "presence", "no PIN was typed, so nothing was done")
	}
	return pin, err
}

// ourselves reports whether this command speaks for the person at the terminal,
// and not with a token or for a session.
func (k *Kit) ourselves() bool {
	s, err := k.Settings()
	return err == nil && s.Get("as_token") == "" && k.SessionSocket() == ""
}

// Leave forgets the PIN: the next decision of a long command asks for it again.
func (k *Kit) Leave() { k.pin, k.prove = "", nil }

// Show prints an operation's output: as JSON with --json, else with text.
func (k *Kit) Show(out any, text func(w io.Writer)) error {
	if !k.JSON {
		text(k.Screen(k.Out))
		return nil
	}
	enc := json.NewEncoder(Screen(k.Out))
	enc.SetEscapeHTML(false)
	if k.Terminal() {
		enc.SetIndent("", "  ")
	}
	return enc.Encode(out)
}

// Life is a duration that was given with a flag, in the unit that an operation
// counts in. There nothing means for ever, or the default: so what is shorter
// than one unit is refused, and the rest is rounded up.
func Life(cmd *cobra.Command, flag string, d, unit time.Duration) (int64, error) {
	if cmd.Flags().Changed(flag) && d < unit {
		return 0, Usagef("--%s %s is too short; the least is %s", flag, d, strings.TrimSuffix(unit.String(), "0s"))
	}
	return int64((d + unit - 1) / unit), nil
}

// Setting binds a command's flag to a setting.
func (k *Kit) Setting(cmd *cobra.Command, key, doc string) {
	cmd.Flags().Func(flagName(key), doc, func(v string) error {
		k.Flags[key] = v
		return nil
	})
}
