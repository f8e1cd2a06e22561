package kit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"tandem/internal/client"
	"tandem/internal/daemon"
	"tandem/internal/fault"
	"tandem/internal/settings"
)

// startPatience is how long a daemon may say nothing of what it does.
const startPatience = 20 * time.Second

// startSays is how many bytes a daemon that cannot start needs at most to say why.
const startSays = 4096

// StartLog is where a daemon that was started in the background says why it ended.
func StartLog(data string) string { return filepath.Join(data, "start.log") }

// Spawn starts this program detached, with the settings of this command line.
func (k *Kit) Spawn(s *settings.Settings, args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for key, v := range k.Flags {
		if key != "data" && key != "control_socket" {
			args = append(args, "--"+flagName(key)+"="+v)
		}
	}
	for _, key := range []string{"data", "control_socket"} { // it runs in a folder of its own
		if v := s.Get(key); v != "" {
			if v, err = filepath.Abs(v); err != nil {
				return err
			}
			args = append(args, "--"+flagName(key)+"="+v)
		}
	}
	for _, f := range k.EnvFiles {
		if f, err = filepath.Abs(f); err != nil {
			return err
		}
		args = append(args, "--env-file="+f)
	}
	if err := os.MkdirAll(s.Data(), 0o700); err != nil {
		return fault.New(fault.Unavailable, "cli", "cannot make the data folder: %w", err)
	}
	out, err := os.OpenFile(filepath.Join(s.Data(), "start.log"), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fault.New(fault.Unavailable, "cli", "cannot write to the data folder: %w", err)
	}
	defer out.Close()
	// Room for what it says if it cannot start: on a full disk it could not write down that the disk is full.
	if _, err = out.Write(bytes.Repeat([]byte{'\n'}, startSays)); err == nil {
		_, err = out.Seek(0, io.SeekStart)
	}
	if err != nil {
		return fmt.Errorf("write to the data folder: %w", err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.Dir = k.Env, out, out, s.Data()
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the daemon: %w", err)
	}
	return cmd.Process.Release()
}

// Started waits for a daemon that was just spawned, as long as it works at it: opening a large repository takes a while the
// first time, and whoever waits is told. It tells early when the daemon said why it ended.
func (k *Kit) Started(ctx context.Context, s *settings.Settings, c *client.Client) error {
	until, shown := time.Now().Add(startPatience), ""
	for {
		short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		err := c.Healthy(short)
		cancel()
		if err == nil {
			return nil
		}
		if f := LastFailure(s.Data()); f != nil {
			return f
		}
		if h, ok := daemon.Living(s.Data()); ok && h.Phase != "" && time.Since(h.Since) > time.Second {
			until = time.Now().Add(startPatience)
			if h.Phase != shown {
				fmt.Fprintf(k.Err, "%s …\n", h.Phase)
				shown = h.Phase
			}
		}
		over := ctx.Err() != nil || time.Now().After(until)
		if over {
			if free, held := daemon.Free(s.Data()); held == nil && !free {
				return fault.New(fault.Unavailable, "start", "a server (PID %d) holds %s and does not answer on %s", daemon.Holder(s.Data()), s.Data(),
					c.Where()).
					WithNext("it may have another socket: use the --control-socket that it was started with; or end it: tandem down --force")
			}
			return fault.New(fault.Unavailable, "start", "the server did not become healthy: %w", err).
				WithNext("see why: tandem doctor, or in the foreground: tandem serve")
		}
	}
}

// Fell writes down why a start failed, for those that nobody saw. Where standard error is that very file the same text is
// written again, over it.
func (k *Kit) Fell(err error) {
	text := "error: " + err.Error() + "\n"
	if f := (*fault.Error)(nil); errors.As(err, &f) && f.Next != "" {
		text += "next:  " + f.Next + "\n"
	}
	f, err := os.OpenFile(StartLog(k.Data()), os.O_CREATE|os.O_WRONLY, 0o600) // not emptied first: Spawn kept room in it
	if err != nil {
		return
	}
	defer f.Close()
	if n, err := f.WriteString(text); err == nil {
		f.Truncate(int64(n)) //nolint:errcheck // what is behind it is empty lines
	}
}

// LastFailure is why the last daemon that was started in the background could not start, nil when it did.
func LastFailure(data string) *fault.Error {
	said, err := os.ReadFile(StartLog(data))
	msg := strings.TrimSpace(string(said))
	if err != nil || msg == "" {
		return nil
	}
	what, next, _ := strings.Cut(strings.TrimPrefix(msg, "error: "), "\nnext:")
	f := fault.New(fault.Unavailable, "start", "%s", strings.TrimSpace(what))
	f.Next = strings.TrimSpace(next)
	return f
}
