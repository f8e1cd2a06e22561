// Package audit holds the commands for the journal: what happened, and the
// proof of it.
package audit

import (
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/wholefile"
)

// Commands are this package's commands.
func Commands(k *kit.Kit) []*cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "The journal: what happened, and the proof of it",
		Long: "Everything that changes something is an entry in the journal, under one tree of hashes that is signed as it grows.\n" +
			"Receipts and exports verify on any machine with the journal's public key alone.",
	}
	cmd.AddCommand(newLog(k), newShow(k), newVerify(k), newProve(k), newExport(k), newAnchor(k), newForget(k), newConfirm(k))
	return []*cobra.Command{cmd}
}

func number(arg string) (int64, error) {
	n, err := strconv.ParseInt(arg, 10, 64)
	if err != nil || n < 1 {
		return 0, kit.Usagef("%q is not an event's number; see them with: tandem audit log", arg)
	}
	return n, nil
}

// save writes a file of the user's, whole or not at all, and never over
// another one.
func save(path string, write func(w io.Writer) error) error {
	if _, err := os.Lstat(path); err == nil {
		return fault.New(fault.Conflict, "audit", "%s exists already", path).WithNext("choose another name, or remove it first")
	}
	f, err := wholefile.Create(path)
	if err != nil {
		return fault.New(fault.Invalid, "audit", "cannot write there: %w", err)
	}
	defer f.Drop()
	if err := write(f); err != nil {
		return err
	}
	return f.Keep()
}
