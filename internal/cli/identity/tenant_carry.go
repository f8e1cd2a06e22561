package identity

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	room "tandem/internal/identity"
	"tandem/internal/op"
)

// line is the first line of a file; a secret one is nobody else's to read.
func line(path string, private bool) (string, error) {
	st, err := os.Stat(path)
	if err == nil && private && runtime.GOOS != "windows" && st.Mode().Perm()&0o044 != 0 {
		return "", fault.New(fault.Invalid, "tenant", "%s can be read by others, and whoever reads it opens the file", path).
			WithNext("chmod 600 %s", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fault.New(fault.Invalid, "tenant", "cannot read %s: %w", path, err)
	}
	first, _, _ := strings.Cut(string(data), "\n")
	if first = strings.TrimSpace(first); first == "" {
		return "", fault.New(fault.Invalid, "tenant", "%s is empty", path)
	}
	return first, nil
}

// phrase is what locks or opens a tenant's file; asked for twice, where a mistake would show only elsewhere.
func phrase(k *kit.Kit, file string, twice bool) (string, error) {
	if file != "" {
		return line(file, true)
	}
	said, err := k.Secret("passphrase of the file: ")
	if err != nil || !twice {
		return said, err
	}
	again, err := k.Secret("once more: ")
	if err == nil && again != said {
		err = fault.New(fault.Invalid, "tenant", "the two are not the same").WithNext("try again")
	}
	return said, err
}

func newTenantExport(k *kit.Kit) *cobra.Command {
	var in room.ExportIn
	var file, recipient string
	cmd := &cobra.Command{
		Use: "export NAME FILE", Short: "Write everything of a tenant to a locked file; needs your PIN", Args: cobra.ExactArgs(2),
		Long: "Write a tenant to a file from which another server takes it (tandem tenant import): people, tokens, grants, sessions, memory, " +
			"spaces, artifacts, automations, secrets and its journal. Nothing of any other tenant is in it, and nothing that is bound to this " +
			"server, such as sign-ins, devices and invitations. The file is locked with a passphrase, which is asked for, or to a recipient " +
			"(tandem server backup-key). The tenant is suspended before, so that nothing happens in it meanwhile.",
		Example: "  tandem tenant export acme ~/acme.tenant --passphrase-file ~/.acme\n" +
			"  tandem tenant export acme ~/acme.tenant --recipient-file ~/recipient",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			in.Name = args[0]
			if in.Path, err = filepath.Abs(args[1]); err != nil {
				return err
			}
			if recipient != "" {
				in.Recipient, err = line(recipient, false)
			} else {
				in.Passphrase, err = phrase(k, file, true)
			}
			if err != nil {
				return err
			}
			out, err := op.Do(cmd.Context(), k, room.TenantExport, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "%d records and %d secrets of %s are in %s (%d bytes)\nsha256: %s\n", out.Records, out.Secrets, out.Name, out.Path,
					out.Bytes, out.Digest)
				stays(w, out.Left)
				doubts(w, out.Doubt)
			})
		},
	}
	cmd.Flags().StringVar(&file, "passphrase-file", "", "read the passphrase from the first line of this file")
	cmd.Flags().StringVar(&recipient, "recipient-file", "", "lock the file to the recipient in the first line of this file")
	return cmd
}

func newTenantImport(k *kit.Kit) *cobra.Command {
	var in room.ImportIn
	var file, identity string
	cmd := &cobra.Command{
		Use: "import FILE", Short: "Take a tenant from another server's file; needs your PIN", Args: cobra.ExactArgs(1),
		Long: "Take a tenant from a file that tandem tenant export wrote on another server, whichever database either has. It keeps its ids. " +
			"What was open there (asks, calls, turns, runs) is ended and not done again, and automations are switched off. It is suspended until " +
			"you have confirmed what it brings (tandem audit confirm) and resume it. The file may be by anybody: a server of its own in a sandbox " +
			"tries it first, and one with anything in it that no tenant can have is refused, and changes nothing.",
		Example: "  tandem tenant import ~/acme.tenant --passphrase-file ~/.acme\n" +
			"  tandem tenant import ~/acme.tenant --identity ~/copies.identity --as acme-two",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if in.Path, err = filepath.Abs(args[0]); err != nil {
				return err
			}
			if identity != "" {
				in.Identity, err = line(identity, true)
			} else {
				in.Passphrase, err = phrase(k, file, false)
			}
			if err != nil {
				return err
			}
			if !k.JSON {
				fmt.Fprintln(k.Err, "the file is tried in a sandbox first, which takes some seconds, and longer where there is much in it")
			}
			out, err := op.Do(cmd.Context(), k, room.TenantImport, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { arrived(w, out) })
		},
	}
	cmd.Flags().StringVar(&in.Name, "as", "", "what it is called here (as it was called there)")
	cmd.Flags().StringVar(&in.Digest, "digest", "", "the SHA-256 that the export printed: no other file is taken")
	cmd.Flags().StringVar(&file, "passphrase-file", "", "read the passphrase from the first line of this file")
	cmd.Flags().StringVar(&identity, "identity", "", "file with the identity of the recipient to which it is locked")
	return cmd
}

func arrived(w io.Writer, out room.ImportOut) {
	fmt.Fprintf(w, "%s (%s) is here, suspended: %d records, %d secrets\nsha256 of the file: %s\n", out.Name, out.ID, out.Records, out.Secrets,
		out.Digest)
	for _, text := range out.Authority {
		fmt.Fprintf(w, "- %s\n", kit.VisibleLine(text))
	}
	var ended []string
	for what, n := range out.Ended {
		ended = append(ended, fmt.Sprintf("%d %s", n, what))
	}
	if slices.Sort(ended); len(ended) > 0 {
		fmt.Fprintf(w, "ended, and not done again here: %s\n", strings.Join(ended, ", "))
	}
	verifies := "verifies with the key that the file names"
	if !out.Verified {
		verifies = "does not verify with the key that the file names"
	}
	fmt.Fprintf(w, "the journal that it had there (%s) %s, %s; tandem audit anchor says on the first server which is its own\n",
		kit.VisibleLine(out.Journal), verifies, kit.VisibleLine(out.Key))
	if out.Limits.None() {
		fmt.Fprintf(w, "it has no limits here; set some: tandem tenant limit %s\n", out.Name)
	} else {
		fmt.Fprintf(w, "its limits are those that it had there; see them: tandem tenant show %s\n", out.Name)
	}
	doubts(w, out.Doubt)
	fmt.Fprintf(w, "look at what it brings, and confirm: tandem audit confirm\nthen open it: tandem tenant resume %s\n", out.Name)
}

// stays says what of a tenant goes to no other server.
func stays(w io.Writer, left map[string]int64) {
	var all []string
	for what, n := range left {
		all = append(all, fmt.Sprintf("%d %s", n, what))
	}
	if slices.Sort(all); len(all) > 0 {
		fmt.Fprintf(w, "not taken along, since it is of this server: %s\n", strings.Join(all, ", "))
	}
}

func doubts(w io.Writer, all []string) {
	if len(all) > 0 {
		fmt.Fprintf(w, "nobody vouches for this, or it does not open, and it does not count: %s\n", kit.VisibleLine(strings.Join(all, ", ")))
	}
}
