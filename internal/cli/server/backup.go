package server

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/daemon"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/wholefile"
)

func newServer(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "server", Short: "The server's data and keys: backup, restore, schedule, rotate, key, migrate, move"}
	cmd.AddCommand(newBackup(k), newRestore(k), newCheckCopy(k), newBackupKey(k), newSchedule(k), newRotate(k), newKey(k), newMigrate(k),
		newMove(k))
	return cmd
}

// secretFlags are what locks or opens a copy.
type secretFlags struct {
	ask  bool
	file string
}

func (f *secretFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.ask, "passphrase", false, "ask for the passphrase of the copy")
	cmd.Flags().StringVar(&f.file, "passphrase-file", "", "read the passphrase of the copy from the first line of this file")
}

func firstLine(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fault.New(fault.Invalid, "server.backup", "cannot read %s: %w", path, err)
	}
	line, _, _ := strings.Cut(string(data), "\n")
	if line = strings.TrimSpace(line); line == "" {
		return "", fault.New(fault.Invalid, "server.backup", "%s is empty", path)
	}
	return line, nil
}

// passphrase is what a person says; twice, where a mistake would show only at the
// restore.
func (f *secretFlags) passphrase(k *kit.Kit, twice bool) (string, error) {
	if f.file != "" {
		return secretLine(k.Err, f.file, os.Chmod)
	}
	if !f.ask {
		return "", nil
	}
	said, err := k.Secret("passphrase of the copy: ")
	if err != nil || !twice {
		return said, err
	}
	again, err := k.Secret("once more: ")
	if err == nil && again != said {
		err = fault.New(fault.Invalid, "server.backup", "the two are not the same").WithNext("try again")
	}
	return said, err
}

func newBackup(k *kit.Kit) *cobra.Command {
	var f secretFlags
	var in daemon.BackupIn
	var recipient string
	cmd := &cobra.Command{
		Use: "backup PATH", Short: "Write a copy of everything while the server runs; needs your PIN", Args: cobra.ExactArgs(1),
		Long: `Write a copy of everything while the server runs: tables, keys, settings, and the
repositories that it serves. It can be restored on another machine, and into SQLite
or PostgreSQL, whichever it came from. PATH is a file that is not there yet, or a
folder that is: there each copy takes the room of what is new since the ones before.

The copy holds the server's keys. Lock it with a passphrase, or to a recipient whose
identity is kept elsewhere (tandem server backup-key), or keep it as you keep keys.`,
		Example: "  tandem server backup ~/tandem-2026-11-15.backup\n  tandem server backup /mnt/copies --passphrase-file ~/.copies --keep 14",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if in.Path, err = filepath.Abs(args[0]); err != nil {
				return err
			}
			if in.Passphrase, err = f.passphrase(k, true); err != nil {
				return err
			}
			if recipient != "" {
				if in.Recipient, err = firstLine(recipient); err != nil {
					return err
				}
			}
			out, err := op.Do(cmd.Context(), k, daemon.ServerBackup, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				showCopy(w, out)
				if in.Passphrase == "" && in.Recipient == "" {
					fmt.Fprintln(w, "Nothing locks it, and it holds the server's keys: keep it as you keep keys, or use --passphrase, --recipient-file")
				}
			})
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&recipient, "recipient-file", "", "lock the copy to the recipient in the first line of this file")
	cmd.Flags().StringVar(&in.Repos, "repos", "content", "content copies the served repositories, reference only names them")
	cmd.Flags().IntVar(&in.Keep, "keep", 0, "of a folder, how many copies stay (all)")
	return cmd
}

func showCopy(w io.Writer, out daemon.BackupOut) {
	fmt.Fprintf(w, "%d rows are in %s (%d bytes, %d of them new)\n", out.Rows, out.Path, out.Copied, out.Bytes)
	for _, r := range out.Repos {
		if r.Content {
			fmt.Fprintf(w, "with the repository %s of %s\n", r.Name, r.Path)
		} else {
			fmt.Fprintf(w, "the repository %s is only named: copy %s as well\n", r.Name, r.Path)
		}
	}
	for _, path := range out.Removed {
		fmt.Fprintf(w, "removed %s\n", path)
	}
	if out.Keeper == "keyring" {
		fmt.Fprintln(w, "The master key of the secrets is in this machine's keyring and not in the copy: secrets open only here.")
	}
}

// opened is a copy as the flags of a command name it.
func opened(k *kit.Kit, path string, f secretFlags, identity string) (in daemon.RestoreIn, err error) {
	if in.Path, err = filepath.Abs(path); err != nil {
		return in, err
	}
	if identity != "" {
		if in.Identity, err = secretLine(k.Err, identity, os.Chmod); err != nil {
			return in, err
		}
	}
	in.Passphrase, err = f.passphrase(k, false)
	return in, err
}

func newCheckCopy(k *kit.Kit) *cobra.Command {
	var f secretFlags
	var identity string
	cmd := &cobra.Command{
		Use: "check PATH", Short: "Restore a copy into nothing, and say what is in it", Args: cobra.ExactArgs(1),
		Long: `Read a copy to its end, restore its tables and repositories into a folder that goes
again, verify them, and say what in it lets somebody do something. Needs no server.`,
		Example: "  tandem server check ~/tandem-2026-11-15.backup",
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := opened(k, args[0], f, identity)
			if err != nil {
				return err
			}
			out, err := daemon.LookAt(cmd.Context(), in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { showLook(w, out) })
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&identity, "identity", "", "file with the identity of the recipient")
	return cmd
}

func showLook(w io.Writer, l daemon.Look) {
	fmt.Fprintf(w, "the copy of %s is whole: %d rows, %d repositories\n", l.Made.Local().Format(time.DateTime), l.Rows, len(l.Repos))
	for _, line := range l.Authority {
		fmt.Fprintf(w, "  %s\n", line)
	}
}

func newBackupKey(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "backup-key FILE", Short: "Make an identity that opens copies, and print its recipient", Args: cobra.ExactArgs(1),
		Long: `Make a pair of keys. The identity is written to FILE: keep it where the server is not.
The recipient that is printed locks copies: tandem server backup PATH --recipient-file FILE`,
		Example: "  tandem server backup-key ~/copies.identity > ~/copies.recipient",
		RunE: func(_ *cobra.Command, args []string) error {
			if _, err := os.Lstat(args[0]); err == nil {
				return fault.New(fault.Conflict, "server.backup", "%s exists already", args[0]).WithNext("choose another name")
			}
			identity, recipient, err := daemon.BackupIdentity()
			if err == nil {
				err = wholefile.Write(args[0], []byte(identity+"\n"))
			}
			if err != nil {
				return err
			}
			return k.Show(map[string]string{"recipient": recipient, "identity": args[0]}, func(w io.Writer) { fmt.Fprintln(w, recipient) })
		},
	}
}

func newRestore(k *kit.Kit) *cobra.Command {
	var f secretFlags
	var identity, to string
	cmd := &cobra.Command{
		Use: "restore PATH", Short: "Replace everything by a copy; needs your PIN", Args: cobra.ExactArgs(1),
		Long: `Replace everything by a copy. The copy is read to its end and restored into nothing
first, and what in it lets somebody do something is shown; the present state is
copied aside into the data folder. A copy that is damaged changes nothing.

A running server restarts with the copy. Where none runs, or none can start, the next
start takes it up. The PIN is that of the server that is replaced, or the copy's where
that cannot be read. Served repositories that are still there stay as they are; those
that are gone come out of the copy, to where they were or into --repos-to. Of a folder
of copies it takes the newest.`,
		Example: "  tandem server restore ~/tandem-2026-11-15.backup\n" +
			"  tandem server restore /mnt/copies/tandem.scheduled --identity ~/copies.identity --repos-to ~/code",
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := opened(k, args[0], f, identity)
			if err == nil && to != "" {
				in.ReposTo, err = filepath.Abs(to)
			}
			if err != nil {
				return err
			}
			if _, err := k.Running(cmd.Context()); err != nil {
				return replace(cmd.Context(), k, in)
			}
			l, err := daemon.LookAt(cmd.Context(), in)
			if err != nil {
				return err
			}
			showLook(k.Err, l)
			out, err := op.Do(cmd.Context(), k, daemon.ServerRestore, in)
			if err != nil {
				return err
			}
			if err := restarted(cmd.Context(), k, "restore.pending"); err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "the server runs with the copy of %s, %d rows\n", out.Made.Local().Format(time.DateTime), out.Rows)
			})
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&identity, "identity", "", "file with the identity of the recipient")
	cmd.Flags().StringVar(&to, "repos-to", "", "folder for the copy's repositories, where they are not to be where they were")
	return cmd
}

// replace restores where no server runs.
func replace(ctx context.Context, k *kit.Kit, in daemon.RestoreIn) error {
	s, err := k.Settings()
	if err != nil {
		return err
	}
	out, err := daemon.Replace(ctx, s, k.Version, in, func(l daemon.Look, whose string, right func(string) bool) error {
		showLook(k.Err, l)
		if whose == "" {
			said, err := k.Secret("neither this server nor the copy has a PIN; say yes to restore it: ")
			if err == nil && said != "yes" {
				err = fault.New(fault.Denied, "server.restore", "nothing was changed")
			}
			return err
		}
		pin, err := k.Secret(fmt.Sprintf("server.restore needs your PIN, that of %s: ", whose))
		if err == nil && !right(pin) {
			err = fault.New(fault.Denied, "server.restore", "that is not the PIN of %s", whose).WithNext("try again; nothing was changed")
		}
		return err
	})
	if err != nil {
		return err
	}
	return k.Show(out, func(w io.Writer) {
		fmt.Fprintf(w, "the next start takes up the copy of %s, %d rows: tandem up\n", out.Made.Local().Format(time.DateTime), out.Rows)
		if out.Aside != "" {
			fmt.Fprintf(w, "what was there is in %s\n", out.Aside)
		}
	})
}

// restarted waits until the server has taken up the file that waits for its start, and answers again.
func restarted(ctx context.Context, k *kit.Kit, waits string) error {
	s, err := k.Settings()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for ctx.Err() == nil {
		if _, err := os.Stat(filepath.Join(s.Data(), waits)); os.IsNotExist(err) {
			if _, err := k.Running(ctx); err == nil {
				return nil
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	return fault.New(fault.Unavailable, "server", "the server did not come back").
		WithNext("see why: tandem logs --level error, or: tandem serve")
}
